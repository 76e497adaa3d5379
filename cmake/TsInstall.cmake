# install(EXPORT) and the package files
