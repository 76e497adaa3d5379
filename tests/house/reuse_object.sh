#!/bin/sh
# A compiler launcher: reuse_object.sh BUILD COMPILER ... -o OBJECT ...: takes OBJECT from BUILD where that has it, in
# place of compiling it again. For builds that differ in what is made of the objects, not in the objects.
build=$1
shift
object=
for argument; do
  [ "$object" = - ] && object=$argument && break
  [ "$argument" = -o ] && object=-
done
[ -f "$build/$object" ] && exec cp "$build/$object" "$object"
exec "$@"
