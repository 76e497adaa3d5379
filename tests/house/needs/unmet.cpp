#include <cstdio>
#include <cstdlib>

int main() {
  if (const char* text = std::getenv("UNMET")) std::puts(text);
}
