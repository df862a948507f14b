// Copies and fills: kinds, ranges, what waits. See docs/start/architecture.md.
#include <cstring>
#include <thread>

#include "support.h"

namespace openreg_test {
namespace {

using CopyTest = DriverTest;

enum Place { kPageable, kPinned, kDevice, kOtherDevice };
constexpr Place kPlaces[] = {kPageable, kPinned, kDevice, kOtherDevice};
constexpr size_t kSize = 1000;

class CopyPlaces : public CopyTest {
 protected:
  void SetUp() override {
    CopyTest::SetUp();
    pageable_.resize(2 * kSize);
    ASSERT_OK(orMallocHost(&pinned_, 2 * kSize));
    ASSERT_OK(orMalloc(&device_, 2 * kSize));
    ASSERT_OK(orSetDevice(1));
    ASSERT_OK(orMalloc(&otherDevice_, 2 * kSize));
    ASSERT_OK(orSetDevice(0));
  }
  void TearDown() override {
    EXPECT_OK(orFreeHost(pinned_));
    EXPECT_OK(orFree(device_));
    EXPECT_OK(orFree(otherDevice_));
    CopyTest::TearDown();
  }
  char* at(Place place, size_t offset = 0) {
    void* base = place == kPageable ? pageable_.data()
                 : place == kPinned ? pinned_
                 : place == kDevice ? device_
                                    : otherDevice_;
    return static_cast<char*>(base) + offset;
  }
  static bool onDevice(Place place) {
    return place == kDevice || place == kOtherDevice;
  }
  static orMemcpyKind kindOf(Place dst, Place src) {
    return onDevice(dst)
               ? (onDevice(src) ? orMemcpyDeviceToDevice : orMemcpyHostToDevice)
               : (onDevice(src) ? orMemcpyDeviceToHost : orMemcpyHostToHost);
  }

 private:
  std::vector<char> pageable_;
  void* pinned_ = nullptr;
  void* device_ = nullptr;
  void* otherDevice_ = nullptr;
};

TEST_F(CopyPlaces, EveryPairOfPlaces) {
  for (Place dst : kPlaces) {
    for (Place src : kPlaces) {
      for (bool inferred : {false, true}) {
        for (bool async : {false, true}) {
          SCOPED_TRACE(testing::Message() << "to place " << dst << " from " << src);
          std::vector<char> sent(kSize);
          for (size_t i = 0; i < kSize; ++i)
            sent[i] = static_cast<char>(i * 7 + dst + src);
          std::vector<char> got(kSize);
          orMemcpyKind kind = inferred ? orMemcpyDefault : kindOf(dst, src);
          // Source and destination do not overlap: the halves of each place.
          ASSERT_OK(orMemcpy(at(src), sent.data(), kSize, orMemcpyDefault));
          if (async) {
            ASSERT_OK(orMemcpyAsync(at(dst, kSize), at(src), kSize, kind, nullptr));
            ASSERT_OK(orStreamSynchronize(nullptr));
          } else {
            ASSERT_OK(orMemcpy(at(dst, kSize), at(src), kSize, kind));
          }
          ASSERT_OK(orMemcpy(got.data(), at(dst, kSize), kSize, orMemcpyDefault));
          EXPECT_EQ(got, sent);
        }
      }
    }
  }
}

TEST_F(CopyPlaces, WrongKindIsRefused) {
  for (Place dst : kPlaces) {
    for (Place src : kPlaces) {
      for (int kind = orMemcpyHostToHost; kind <= orMemcpyDeviceToDevice; ++kind) {
        if (kind == kindOf(dst, src)) continue;
        EXPECT_FAILS(orMemcpy(at(dst, kSize), at(src), kSize, orMemcpyKind(kind)),
                     orErrorInvalidMemcpyDirection, "the kind requires");
      }
    }
  }
}

TEST_F(CopyPlaces, RangesOutsideTheirAllocationAreRefused) {
  for (Place place : {kPinned, kDevice, kOtherDevice}) {
    std::vector<char> host(3 * kSize);
    for (size_t offset : {size_t{0}, size_t{1}, 2 * kSize - 1}) {
      size_t rest = 2 * kSize - offset;
      EXPECT_OK(orMemcpy(at(place, offset), host.data(), rest, orMemcpyDefault));
      EXPECT_OK(orMemcpy(host.data(), at(place, offset), rest, orMemcpyDefault));
      EXPECT_FAILS(orMemcpy(at(place, offset), host.data(), rest + 1, orMemcpyDefault),
                   orErrorInvalidValue, "dst");
      EXPECT_FAILS(orMemcpy(host.data(), at(place, offset), rest + 1, orMemcpyDefault),
                   orErrorInvalidValue, "src");
    }
    EXPECT_FAILS(orMemcpy(at(place), host.data(), SIZE_MAX, orMemcpyDefault),
                 orErrorInvalidValue, "wrap around");
    EXPECT_FAILS(orMemcpy(at(place), host.data(), SIZE_MAX / 2, orMemcpyDefault),
                 orErrorInvalidValue, "leave their allocation");
  }
}

TEST_F(CopyPlaces, CountZeroDoesNothing) {
  EXPECT_OK(orMemcpy(nullptr, nullptr, 0, orMemcpyHostToDevice));
  EXPECT_OK(orMemcpyAsync(at(kDevice), nullptr, 0, orMemcpyDefault, nullptr));
  EXPECT_OK(orMemset(nullptr, 1, 0));
  // The other arguments must make sense all the same.
  EXPECT_FAILS(orMemcpy(nullptr, nullptr, 0, orMemcpyKind(9)), orErrorInvalidValue,
               "9");
}

TEST_F(CopyTest, DeviceAddressesThatAreNotAllocatedAreRefused) {
  char* freed = nullptr;
  {
    DeviceMemory memory(4096);
    freed = memory.get();
  }
  char host[16] = {};
  EXPECT_FAILS(orMemcpy(freed, host, 16, orMemcpyHostToDevice),
               orErrorInvalidDevicePointer, "outside every live allocation");
  EXPECT_FAILS(orMemcpy(host, freed, 16, orMemcpyDefault), orErrorInvalidDevicePointer,
               "src");
  EXPECT_FAILS(orMemset(freed, 0, 16), orErrorInvalidDevicePointer, "ptr");
  EXPECT_FAILS(orMemset(host, 0, 16), orErrorInvalidDevicePointer, "pageable host");
}

TEST_F(CopyTest, CopiesAreOrderedInTheirStream) {
  Stream stream;
  DeviceMemory memory(64);
  PinnedMemory result(64);
  Gate gate;
  ASSERT_OK(launchGate(stream, gate));
  ASSERT_OK(orMemsetAsync(memory.get(), 0x105, 64, stream));  // the low byte counts
  ASSERT_OK(
      orMemcpyAsync(result.get(), memory.get(), 64, orMemcpyDeviceToHost, stream));
  result.get()[0] = 1;
  gate.open();
  EXPECT_OK(orStreamSynchronize(stream));
  EXPECT_EQ(result.get()[0], 5);
  EXPECT_EQ(result.get()[63], 5);
}

TEST_F(CopyTest, PinnedSourceIsReadWhenTheCopyRuns) {
  Stream stream;
  DeviceMemory memory(1);
  PinnedMemory source(1);
  Gate gate;
  ASSERT_OK(launchGate(stream, gate));
  *source.get() = 1;
  ASSERT_OK(orMemcpyAsync(memory.get(), source.get(), 1, orMemcpyHostToDevice, stream));
  *source.get() = 2;
  gate.open();
  EXPECT_OK(orStreamSynchronize(stream));
  char byte = 0;
  EXPECT_OK(orMemcpy(&byte, memory.get(), 1, orMemcpyDeviceToHost));
  EXPECT_EQ(byte, 2);
}

// One size below and one above what the driver keeps in its own buffer.
class PageableCopyTest : public CopyTest, public testing::WithParamInterface<size_t> {};
INSTANTIATE_TEST_SUITE_P(Sizes, PageableCopyTest, testing::Values(64, 1 << 20));

TEST_P(PageableCopyTest, SourceMayBeOverwrittenAfterTheCall) {
  const size_t size = GetParam();
  Stream stream;
  DeviceMemory memory(size);
  Gate gate;
  ASSERT_OK(launchGate(stream, gate));
  std::thread opener([&] {
    gate.awaitArrival();
    gate.open();
  });
  std::vector<char> source(size, 1);
  EXPECT_OK(
      orMemcpyAsync(memory.get(), source.data(), size, orMemcpyHostToDevice, stream));
  std::fill(source.begin(), source.end(), 2);
  opener.join();
  EXPECT_OK(orStreamSynchronize(stream));
  std::vector<char> result(size);
  EXPECT_OK(orMemcpy(result.data(), memory.get(), size, orMemcpyDeviceToHost));
  EXPECT_EQ(result, std::vector<char>(size, 1));
}

TEST_P(PageableCopyTest, DestinationIsWrittenWhenTheCallReturns) {
  const size_t size = GetParam();
  Stream stream;
  DeviceMemory memory(size);
  ASSERT_OK(orMemsetAsync(memory.get(), 7, size, stream));
  std::vector<char> result(size);
  EXPECT_OK(orMemcpyAsync(result.data(), memory.get(), size, orMemcpyDefault, stream));
  EXPECT_EQ(result, std::vector<char>(size, 7));
}

TEST_F(CopyTest, SynchronousCopyIsOrderedAfterTheDefaultStream) {
  DeviceMemory memory(1);
  Gate gate;
  ASSERT_OK(launchGate(nullptr, gate));
  ASSERT_OK(orMemsetAsync(memory.get(), 9, 1, nullptr));
  std::thread opener([&] {
    gate.awaitArrival();
    gate.open();
  });
  char byte = 0;
  EXPECT_OK(orMemcpy(&byte, memory.get(), 1, orMemcpyDeviceToHost));
  EXPECT_EQ(byte, 9);
  opener.join();
}

TEST_F(CopyTest, OverlappingRangesOfOneAllocation) {
  DeviceMemory memory(256);
  char bytes[256];
  for (int i = 0; i < 256; ++i) bytes[i] = static_cast<char>(i);
  ASSERT_OK(orMemcpy(memory.get(), bytes, 256, orMemcpyHostToDevice));
  ASSERT_OK(orMemcpy(memory.get() + 16, memory.get(), 240, orMemcpyDeviceToDevice));
  char result[256];
  ASSERT_OK(orMemcpy(result, memory.get(), 256, orMemcpyDeviceToHost));
  EXPECT_EQ(std::memcmp(result + 16, bytes, 240), 0);
}

}  // namespace
}  // namespace openreg_test
