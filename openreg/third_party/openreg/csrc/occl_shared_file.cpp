// The file behind a unique id; see docs/modules/distributed.md.
#include "occl_shared_file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <string_view>

#include "occl_failure.h"
#include "occl_rendezvous.h"

namespace openreg::occl {
namespace {

constexpr char kMagic[8] = "occl 01";

// The files of ids that this process has made, by token. Leaked on purpose: other
// libraries may use the library while the process exits.
auto& own_files = *new std::map<int64_t, int>;
std::mutex own_files_mutex;

int64_t random_token() {
  std::random_device random;
  return static_cast<int64_t>((uint64_t{random()} << 32) | random());
}

}  // namespace

int64_t process_space() {
  const char* disabled = std::getenv("OCCL_SHM_DISABLE");
  struct stat space = {};
  struct stat network = {};
  if ((disabled != nullptr && std::string_view(disabled) == "1") ||
      stat("/proc/self/ns/pid", &space) != 0 ||
      stat("/proc/self/ns/net", &network) != 0) {
    return -1;
  }
  return static_cast<int64_t>(space.st_ino << 31 ^ network.st_ino);
}

SharedFile SharedFile::make() {
  const int file = memfd_create("openreg-occl", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  // A process that touches a page behind the end of the file would be killed.
  fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK);
  SharedFile result{{}, getpid(), file, random_token(), process_space()};
  std::memcpy(result.magic, kMagic, sizeof kMagic);
  if (pwrite(file, &result.token, sizeof token, 0) != sizeof token) {
    const int reason = errno;
    if (file >= 0) close(file);
    throw Failure(occlSystemError,
                  joined("no memory can be shared: ", std::strerror(reason)));
  }
  const std::lock_guard lock(own_files_mutex);
  own_files.emplace(result.token, file);
  return result;
}

void SharedFile::close_own() const {
  const std::lock_guard lock(own_files_mutex);
  const auto found = own_files.find(token);
  if (found == own_files.end() || process != getpid()) return;
  close(found->second);
  own_files.erase(found);
}

bool SharedFile::is_valid() const {
  return std::memcmp(magic, kMagic, sizeof kMagic) == 0;
}

}  // namespace openreg::occl
