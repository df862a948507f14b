// The file behind a unique id; see docs/modules/distributed.md.
#pragma once

#include <unistd.h>

#include <cstdint>

namespace openreg::occl {

struct OpenFile {
  explicit OpenFile(int number) : number(number) {}
  ~OpenFile() {
    if (number >= 0) close(number);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  const int number;
};

// Processes of one space use the same process ids and the same network. A process of
// another space counts as a process on another host. -1: this process shares no memory.
int64_t process_space();

}  // namespace openreg::occl
