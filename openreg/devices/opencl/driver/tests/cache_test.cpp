// Compiled programs on the disk; see docs/opencl/driver.md.
//
// The driver reads its environment once, so each process of a test is a fresh one.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "oclrt_kernel.h"
#include "support.h"

namespace openreg_test {
namespace {

namespace fs = std::filesystem;

class CacheTest : public testing::Test {
 protected:
  void SetUp() override {
    // A death test runs this again, in the process that it starts.
    const char* given = std::getenv("OCLRT_TEST_CACHE");
    if (given == nullptr) {
      const std::string made = fs::temp_directory_path() / "oclrt-XXXXXX";
      std::vector<char> name(made.begin(), made.end());
      name.push_back('\0');
      ASSERT_NE(mkdtemp(name.data()), nullptr);
      setenv("OCLRT_TEST_CACHE", name.data(), 1);
      owner_ = true;
    }
    folder_ = std::getenv("OCLRT_TEST_CACHE");
    setenv("OCLRT_CACHE_DIR", folder_.c_str(), 1);
  }
  void TearDown() override {
    if (!owner_) return;
    fs::remove_all(folder_);
    unsetenv("OCLRT_TEST_CACHE");
  }

  // Ends the process with 0 if the kernel computes what it must.
  [[noreturn]] static void useKernel() {
    orClKernel_t kernel = nullptr;
    void* memory = nullptr;
    int result = 0;
    const size_t global = 1;
    bool good = orClGetKernel(&kernel, "kernel void f(global int* x) { *x = 42; }", "f",
                              nullptr) == orSuccess &&
                orMalloc(&memory, sizeof(int)) == orSuccess;
    const orClArg arg = {&memory, sizeof memory, 1};
    good = good &&
           orClLaunch(kernel, &arg, 1, 1, &global, nullptr, nullptr) == orSuccess &&
           orMemcpy(&result, memory, sizeof result, orMemcpyDefault) == orSuccess &&
           result == 42;
    std::exit(good ? 0 : 1);
  }

  std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.push_back(entry);
    return found;
  }

  fs::path folder_;
  bool owner_ = false;
};

TEST_F(CacheTest, ProgramIsStoredOnceAndTakenAgain) {
  EXPECT_EXIT(useKernel(), success(), "");
  ASSERT_EQ(files().size(), 1u);
  const auto written = fs::last_write_time(files()[0]);
  EXPECT_EXIT(useKernel(), success(), "");
  ASSERT_EQ(files().size(), 1u);
  EXPECT_EQ(fs::last_write_time(files()[0]), written);
}

TEST_F(CacheTest, DamagedFilesAreIgnoredAndReplaced) {
  EXPECT_EXIT(useKernel(), success(), "");
  ASSERT_EQ(files().size(), 1u);
  const fs::path file = files()[0];
  const auto size = fs::file_size(file);
  for (const uintmax_t keep : {uintmax_t{0}, uintmax_t{10}, size / 2, size - 1}) {
    fs::resize_file(file, keep);
    EXPECT_EXIT(useKernel(), success(), "");
    EXPECT_EQ(fs::file_size(file), size) << keep;
  }
  {  // one byte in the middle of the binary
    std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
    bytes.seekp(static_cast<std::streamoff>(size / 2));
    bytes.put('\x5a');
  }
  EXPECT_EXIT(useKernel(), success(), "");
}

TEST_F(CacheTest, FolderThatCannotBeWrittenIsNoError) {
  setenv("OCLRT_CACHE_DIR", "/proc/no-such-folder", 1);
  EXPECT_EXIT(useKernel(), success(), "");
  setenv("OCLRT_CACHE_DIR", "", 1);
  EXPECT_EXIT(useKernel(), success(), "");
  EXPECT_TRUE(files().empty());
}

}  // namespace
}  // namespace openreg_test
