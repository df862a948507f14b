// Memory of other processes: sharing, death, bad handles. See
// docs/frontend/ipc.md.
//
// Each test runs its statement in a fresh process, where the driver has not started
// yet. It forks there: the child exports, the parent opens.
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "openreg_ipc.h"
#include "support.h"

namespace openreg_test {
namespace {

// Ends the process with the line of the check that failed.
#define REQUIRE(condition)                                                    \
  do {                                                                        \
    if (!(condition)) {                                                       \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #condition, \
                   orGetErrorDetail());                                       \
      _exit(1);                                                               \
    }                                                                         \
  } while (false)

#define REQUIRE_FAILS(call, code, words) \
  REQUIRE((call) == code && std::strstr(orGetErrorDetail(), words) != nullptr)

// One end of the line between the two processes.
class Line {
 public:
  explicit Line(int end) : end_(end) {}
  template <class T>
  void send(const T& value) {
    REQUIRE(write(end_, &value, sizeof value) == static_cast<ssize_t>(sizeof value));
  }
  template <class T>
  T receive() {
    T value{};
    REQUIRE(read(end_, &value, sizeof value) == static_cast<ssize_t>(sizeof value));
    return value;
  }

 private:
  int end_;
};

// Runs both functions, each in a separate process, and ends the calling process: with
// 0 if all is well. The alarm ends a process that hangs.
template <class Exporter, class Importer>
[[noreturn]] void runBoth(Exporter exporter, Importer importer) {
  int ends[2];
  REQUIRE(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  pid_t child = fork();
  alarm(50);
  if (child == 0) {
    close(ends[0]);
    exporter(Line(ends[1]));
    _exit(0);
  }
  close(ends[1]);
  importer(Line(ends[0]), child);
  close(ends[0]);
  int status = -1;
  waitpid(child, &status, 0);
  REQUIRE((WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
          (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL));
  _exit(0);
}

void* allocate(size_t size, int value) {
  void* ptr = nullptr;
  REQUIRE(orMalloc(&ptr, size) == orSuccess);
  REQUIRE(orMemset(ptr, value, size) == orSuccess);
  return ptr;
}

orIpcMemHandle_t handleOf(void* ptr) {
  orIpcMemHandle_t handle;
  REQUIRE(orIpcGetMemHandle(&handle, ptr) == orSuccess);
  return handle;
}

char* open(orIpcMemHandle_t handle) {
  void* ptr = nullptr;
  REQUIRE(orIpcOpenMemHandle(&ptr, handle) == orSuccess);
  return static_cast<char*>(ptr);
}

int byteAt(const char* ptr) {
  char byte = 0;
  REQUIRE(orMemcpy(&byte, ptr, 1, orMemcpyDeviceToHost) == orSuccess);
  return byte;
}

// An exporter of one allocation of device 0 that lives until it is told to end.
void exportMegabyte(Line line) {
  line.send(handleOf(allocate(1 << 20, 7)));
  line.receive<char>();
}

TEST(IpcDeathTest, BothProcessesUseTheSameMemory) {
  EXPECT_EXIT(
      runBoth(
          [](Line line) {
            REQUIRE(orSetDevice(1) == orSuccess);
            void* ptr = allocate(1000, 3);
            line.send(handleOf(ptr));
            line.receive<char>();
            REQUIRE(byteAt(static_cast<char*>(ptr)) == 4);
            REQUIRE(byteAt(static_cast<char*>(ptr) + 999) == 5);
          },
          [](Line line, pid_t) {
            char* ptr = open(line.receive<orIpcMemHandle_t>());
            orPointerAttributes attributes;
            REQUIRE(orPointerGetAttributes(&attributes, ptr + 999) == orSuccess);
            REQUIRE(attributes.type == orMemoryTypeDevice && attributes.device == 1);
            REQUIRE(attributes.base == ptr && attributes.size == 1000);
            REQUIRE(orPointerGetAttributes(&attributes, ptr + 1000) == orSuccess);
            REQUIRE(attributes.type == orMemoryTypeUnregistered);
            REQUIRE(byteAt(ptr) == 3 && byteAt(ptr + 999) == 3);
            REQUIRE(orMemset(ptr, 4, 1) == orSuccess);
            auto kernel = [ptr] {
              *static_cast<char*>(orKernelAddress(ptr + 999)) = 5;
            };
            REQUIRE(launch(nullptr, kernel) == orSuccess);
            REQUIRE(orDeviceSynchronize() == orSuccess);
            REQUIRE_FAILS(orMemset(ptr, 4, 1001), orErrorInvalidValue, "leave their");
            line.send('.');
          }),
      success(), "");
}

TEST(IpcDeathTest, AllocationsMayShareAPage) {
  EXPECT_EXIT(runBoth(
                  [](Line line) {
                    for (int i = 0; i < 20; ++i) line.send(handleOf(allocate(700, i)));
                    line.receive<char>();
                  },
                  [](Line line, pid_t) {
                    char* ptrs[20];
                    for (char*& ptr : ptrs)
                      ptr = open(line.receive<orIpcMemHandle_t>());
                    for (int i = 0; i < 20; ++i) {
                      REQUIRE(byteAt(ptrs[i]) == i && byteAt(ptrs[i] + 699) == i);
                      REQUIRE(orIpcCloseMemHandle(ptrs[i]) == orSuccess);
                    }
                    line.send('.');
                  }),
              success(), "");
}

TEST(IpcDeathTest, SecondOpenGivesTheSameAddressAndCounts) {
  EXPECT_EXIT(
      runBoth(exportMegabyte,
              [](Line line, pid_t) {
                auto handle = line.receive<orIpcMemHandle_t>();
                char* ptr = open(handle);
                REQUIRE(open(handle) == ptr);
                REQUIRE(orIpcCloseMemHandle(ptr) == orSuccess);
                REQUIRE(byteAt(ptr) == 7);
                REQUIRE(orIpcCloseMemHandle(ptr) == orSuccess);
                char byte = 0;
                REQUIRE_FAILS(orMemcpy(&byte, ptr, 1, orMemcpyDefault),
                              orErrorInvalidDevicePointer, "outside every live");
                void* address = ptr;
                auto kernel = [&] { address = orKernelAddress(ptr); };
                REQUIRE(launch(nullptr, kernel) == orSuccess);
                REQUIRE(orDeviceSynchronize() == orSuccess && address == nullptr);
                REQUIRE_FAILS(orIpcCloseMemHandle(ptr), orErrorInvalidDevicePointer,
                              "closed already");
                for (int i = 0; i < 2000; ++i) {  // the addresses are used again
                  REQUIRE(orIpcCloseMemHandle(open(handle)) == orSuccess);
                }
                REQUIRE(byteAt(open(handle)) == 7);
                line.send('.');
              }),
      success(), "");
}

TEST(IpcDeathTest, MemoryOutlivesTheProcessThatExportedIt) {
  EXPECT_EXIT(runBoth(
                  [](Line line) {
                    line.send(handleOf(allocate(1 << 20, 7)));
                    line.send(handleOf(allocate(1 << 20, 8)));
                    for (;;) pause();
                  },
                  [](Line line, pid_t exporter) {
                    auto first = line.receive<orIpcMemHandle_t>();
                    auto second = line.receive<orIpcMemHandle_t>();
                    char* ptr = open(first);
                    kill(exporter, SIGKILL);
                    waitid(P_PID, exporter, nullptr, WEXITED | WNOWAIT);
                    REQUIRE(byteAt(ptr) == 7 && orMemset(ptr, 9, 1 << 20) == orSuccess);
                    REQUIRE(byteAt(ptr + (1 << 20) - 1) == 9 && open(first) == ptr);
                    void* none = ptr;
                    std::string words = "process " + std::to_string(exporter);
                    REQUIRE_FAILS(orIpcOpenMemHandle(&none, second),
                                  orErrorInvalidResourceHandle, words.c_str());
                    REQUIRE(none == ptr);
                  }),
              success(), "");
}

TEST(IpcDeathTest, CloseWaitsForTheDevices) {
  EXPECT_EXIT(runBoth(exportMegabyte,
                      [](Line line, pid_t) {
                        char* ptr = open(line.receive<orIpcMemHandle_t>());
                        Gate gate;
                        bool wrote = false;
                        REQUIRE(orSetDevice(1) == orSuccess);  // a peer may also use it
                        REQUIRE(launchGate(nullptr, gate) == orSuccess);
                        auto kernel = [&] {
                          *static_cast<char*>(orKernelAddress(ptr)) = 1;
                          wrote = true;
                        };
                        REQUIRE(launch(nullptr, kernel) == orSuccess);
                        std::thread opener([&] {
                          gate.awaitArrival();
                          gate.open();
                        });
                        REQUIRE(orIpcCloseMemHandle(ptr) == orSuccess && wrote);
                        opener.join();
                        line.send('.');
                      }),
              success(), "");
}

TEST(IpcDeathTest, SpoiltHandlesAreRefused) {
  EXPECT_EXIT(runBoth(exportMegabyte,
                      [](Line line, pid_t) {
                        const auto good = line.receive<orIpcMemHandle_t>();
                        void* ptr = nullptr;
                        int refused = 0;
                        for (size_t i = 0; i < sizeof good; ++i) {
                          for (int bit = 0; bit < 8; ++bit) {
                            orIpcMemHandle_t bad = good;
                            bad.reserved[i] =
                                static_cast<char>(bad.reserved[i] ^ (1 << bit));
                            orError_t error = orIpcOpenMemHandle(&ptr, bad);
                            // Some name another range of the file: harmless for this
                            // process.
                            if (error == orSuccess) {
                              byteAt(static_cast<char*>(ptr));
                              REQUIRE(orIpcCloseMemHandle(ptr) == orSuccess);
                            } else {
                              REQUIRE(error == orErrorInvalidResourceHandle ||
                                      error == orErrorInvalidDevice ||
                                      error == orErrorMemoryAllocation);
                              ++refused;
                            }
                          }
                        }
                        REQUIRE(refused > 200);
                        line.send('.');
                      }),
              success(), "");
}

TEST(IpcDeathTest, MoreThanItsOwnMemoryCannotBeOpened) {
  EXPECT_EXIT(runBoth(
                  [](Line line) {
                    line.send(handleOf(allocate(4 << 20, 1)));
                    line.receive<char>();
                  },
                  [](Line line, pid_t) {
                    setenv("OPENREG_DEVICE_MEMORY", "1M", 1);
                    auto handle = line.receive<orIpcMemHandle_t>();
                    void* ptr = nullptr;
                    REQUIRE_FAILS(orIpcOpenMemHandle(&ptr, handle),
                                  orErrorMemoryAllocation, "OPENREG_DEVICE_MEMORY");
                    line.send('.');
                  }),
              success(), "");
}

TEST(IpcDeathTest, OpenedMemoryBelongsToTheExporter) {
  EXPECT_EXIT(runBoth(exportMegabyte,
                      [](Line line, pid_t) {
                        char* ptr = open(line.receive<orIpcMemHandle_t>());
                        orIpcMemHandle_t handle;
                        REQUIRE_FAILS(orFree(ptr), orErrorInvalidDevicePointer,
                                      "orIpcCloseMemHandle()");
                        REQUIRE_FAILS(orIpcGetMemHandle(&handle, ptr),
                                      orErrorInvalidDevicePointer,
                                      "only that process can export");
                        line.send('.');
                      }),
              success(), "");
}

using IpcTest = DriverTest;

TEST_F(IpcTest, OnlyAWholeAllocationIsExported) {
  DeviceMemory memory(4096);
  orIpcMemHandle_t handle;
  EXPECT_FAILS(orIpcGetMemHandle(&handle, memory.get() + 512),
               orErrorInvalidDevicePointer, "not the start");
  void* ptr = nullptr;
  EXPECT_FAILS(orIpcOpenMemHandle(&ptr, handleOf(memory.get())),
               orErrorInvalidResourceHandle, "made by this process");
  EXPECT_EQ(ptr, nullptr);
  EXPECT_FAILS(orIpcCloseMemHandle(memory.get()), orErrorInvalidDevicePointer,
               "not open");
}

}  // namespace
}  // namespace openreg_test
