// What goes wrong between ranks, and what one rank can tell. See
// docs/modules/distributed.md.
#include "occl_support.h"

namespace openreg_test {
namespace {

TEST(OcclDeathTest, AMessageThatDoesNotFitIsRefusedOnBothSides) {
  EXPECT_RANKS(2, [](Rank me) {
    Numbers<float> numbers(3, 1.0f);
    if (me.rank == 0) {
      requireFault(occlSend(numbers.get(), 3, occlFloat32, 1, me.comm, nullptr),
                   "rank 0 of 2: this rank sends 12 bytes of float32, rank 1 expects 8 "
                   "bytes of int64");
    } else {
      requireFault(occlRecv(numbers.get(), 1, occlInt64, 0, me.comm, nullptr),
                   "this rank expects 8 bytes of int64, rank 0 sends 12 bytes");
    }
    orDeviceReset();
    requireReduction<float>(me, occlFloat32, occlSum, 1.0f, 2.0f);
  });
}

TEST(OcclDeathTest, EveryRankReadsWhichMessageDoesNotFit) {
  EXPECT_RANKS(3, [](Rank me) {
    Numbers<float> numbers(4, 1.0f);
    REQUIRE(occlGroupStart() == occlSuccess);
    REQUIRE(occlVerify("exchange", me.comm, nullptr) == occlSuccess);
    if (me.rank == 0) {
      REQUIRE(occlSend(numbers.get(), 2, occlFloat32, 1, me.comm, nullptr) ==
              occlSuccess);
    } else if (me.rank == 1) {
      REQUIRE(occlRecv(numbers.get(), 1, occlFloat32, 0, me.comm, nullptr) ==
              occlSuccess);
    }
    requireFault(occlGroupEnd(), "rank 0 sends 8 bytes to rank 1, which expects 4");
  });
}

TEST(OcclDeathTest, RanksThatDisagreeAreNamedOnEveryRank) {
  EXPECT_RANKS(2, [](Rank me) {
    Numbers<float> numbers(3, 1.0f);
    requireReduction<float>(me, occlFloat32, occlSum, 1.0f, 2.0f);
    requireFault(occlAllReduce(numbers.get(), numbers.get(), 2 + me.rank, occlFloat32,
                               occlSum, me.comm, nullptr),
                 "the calls of the ranks do not match:\n"
                 "  rank 0: #3 occlAllReduce: sum of 2 float32\n"
                 "  rank 1: #3 occlAllReduce: sum of 3 float32");
    occlResult_t error = occlSuccess;
    REQUIRE(occlCommGetAsyncError(me.comm, &error) == occlSuccess);
    REQUIRE(error == occlInvalidUsage);
    REQUIRE_WORDS(occlGetLastError(me.comm), "of the ranks do not match");
    orDeviceReset();
    requireReduction<float>(me, occlFloat32, occlSum, 1.0f, 2.0f);
  });
}

TEST(OcclDeathTest, AbortEndsWhatIsUnderWayOnEveryRank) {
  EXPECT_RANKS(2, [](Rank me) {
    Numbers<float> numbers(3, 1.0f);
    if (me.rank == 0) {
      REQUIRE(occlAllReduce(numbers.get(), numbers.get(), 3, occlFloat32, occlSum,
                            me.comm, nullptr) == occlSuccess);
      Stream other;
      REQUIRE(occlRecvTag(numbers.get(), 3, occlFloat32, occlAnySource, 1, me.comm,
                          other) == occlSuccess);
      std::thread([&] { REQUIRE(occlCommAbort(me.comm) == occlSuccess); }).join();
      REQUIRE(orDeviceSynchronize() == orSuccess);  // no fault
      REQUIRE(occlAllReduce(numbers.get(), numbers.get(), 3, occlFloat32, occlSum,
                            me.comm, nullptr) == occlInvalidArgument);
      REQUIRE_WORDS(occlGetLastError(nullptr), "not live");
      ++me.meeting.steps;
      return;
    }
    me.meeting.await(1);
    requireFault(occlVerify("barrier", me.comm, nullptr), "rank 0 called abort()");
  });
}

TEST(OcclDeathTest, ADeadRankIsNamed) {
  const auto die = [](Rank me) {
    if (me.rank == 2) {
      me.meeting.await(2);
      kill(getpid(), SIGKILL);
    }
    Numbers<float> numbers(3, 1.0f);
    ++me.meeting.steps;
    const bool message = me.rank == 1;
    requireFault(message ? occlRecv(numbers.get(), 3, occlFloat32, 2, me.comm, nullptr)
                         : occlAllReduce(numbers.get(), numbers.get(), 3, occlFloat32,
                                         occlSum, me.comm, nullptr),
                 "rank 2: its process has ended");
  };
  EXPECT_RANKS(3, die, 0, 2);
}

TEST(OcclDeathTest, ALateRankIsNamedAndLearnsIt) {
  const auto late = [](Rank me) {
    if (me.rank == 1) me.meeting.await(1);
    REQUIRE(occlMonitoredBarrier(me.comm, 0) ==
            (me.rank == 1 ? occlRemoteError : occlTimeout));
    REQUIRE_WORDS(occlGetLastError(nullptr), "timed out after 300 ms without rank 1");
    ++me.meeting.steps;
  };
  EXPECT_RANKS(2, late, 300);
}

TEST(OcclDeathTest, ARankThatLeftIsNamed) {
  EXPECT_RANKS(2, [](Rank me) {
    if (me.rank == 1) {
      REQUIRE(occlCommDestroy(me.comm) == occlSuccess);
      ++me.meeting.steps;
      me.meeting.await(2);
      return;
    }
    Numbers<float> numbers(1, 1.0f);
    requireFault(occlSend(numbers.get(), 1, occlFloat32, 1, me.comm, nullptr),
                 "rank 1 has left the group");
    ++me.meeting.steps;
  });
}

struct Told {
  occlResult_t result = occlInProgress;
  std::string text;
  int source = 0;
  int released = 0;
};

void finished(void* arg, occlResult_t result, const char* text, int source) {
  auto& told = *static_cast<Told*>(arg);
  told.result = result;
  told.text = text;
  told.source = source;
}

TEST(OcclDeathTest, OptionsTellHowAnOperationEnded) {
  EXPECT_RANKS(2, [](Rank me) {
    Told told;
    const auto release = [](void* arg) { ++static_cast<Told*>(arg)->released; };
    const occlGroupOptions_t options{"my_name", "my prefix: ", 200,
                                     finished,  release,       &told};
    Numbers<float> numbers(3, 1.0f);
    REQUIRE(occlGroupStart() == occlSuccess);
    REQUIRE((me.rank == 0
                 ? occlSendTag(numbers.get(), 3, occlFloat32, 1, 5, me.comm, nullptr)
                 : occlRecvTag(numbers.get(), 3, occlFloat32, occlAnySource, 5, me.comm,
                               nullptr)) == occlSuccess);
    REQUIRE_OCCL(occlGroupEndWith(&options));
    REQUIRE(told.result == occlSuccess && told.text.empty() && told.released == 1);
    REQUIRE(told.source == (me.rank == 0 ? -1 : 0));
    if (me.rank == 1) return me.meeting.await(1);
    REQUIRE(occlGroupStart() == occlSuccess);
    REQUIRE(occlRecv(numbers.get(), 3, occlFloat32, 1, me.comm, nullptr) ==
            occlSuccess);
    requireFault(occlGroupEndWith(&options), "my prefix: timed out after 200 ms");
    REQUIRE_WORDS(orGetErrorDetail(), "'my_name'");
    REQUIRE(told.result == occlTimeout && told.released == 2);
    ++me.meeting.steps;
  });
}

using OcclTest = DriverTest;

// A communicator of one rank, in this process.
class Alone {
 public:
  Alone() {
    occlUniqueId id;
    EXPECT_EQ(occlGetUniqueId(&id), occlSuccess);
    EXPECT_EQ(occlCommInitRank(&comm_, 1, id, 0), occlSuccess)
        << occlGetLastError(nullptr);
  }
  ~Alone() { EXPECT_EQ(occlCommDestroy(comm_), occlSuccess); }
  operator occlComm_t() const { return comm_; }

 private:
  occlComm_t comm_ = nullptr;
};

void expectRefused(occlResult_t result, occlResult_t code, const std::string& words) {
  EXPECT_EQ(result, code);
  EXPECT_NE(std::string(occlGetLastError(nullptr)).find(words), std::string::npos)
      << occlGetLastError(nullptr);
}

TEST_F(OcclTest, TellsAboutACommunicator) {
  const Alone comm;
  int count = 0, rank = -1, device = -1, shares = -1;
  EXPECT_EQ(occlCommCount(comm, &count), occlSuccess);
  EXPECT_EQ(occlCommUserRank(comm, &rank), occlSuccess);
  EXPECT_EQ(occlCommOrDevice(comm, &device), occlSuccess);
  EXPECT_EQ(occlCommSharesMemory(comm, &shares), occlSuccess);
  EXPECT_EQ(std::vector({count, rank, device, shares}), std::vector({1, 0, 0, 1}));
  EXPECT_STREQ(occlGetLastError(comm), "");
  EXPECT_STREQ(occlGetErrorString(occlTimeout), "timed out waiting for another rank");
  EXPECT_STREQ(occlGetErrorString(static_cast<occlResult_t>(99)),
               "not a result of this library");
}

TEST_F(OcclTest, RefusesWhatOneRankCanTell) {
  const Alone comm;
  const DeviceMemory memory(64);
  float* ptr = reinterpret_cast<float*>(memory.get());
  float host[4] = {};
  const auto sum = [&](const void* send, size_t count, int dtype, int op,
                       occlComm_t with) {
    return occlAllReduce(send, ptr, count, static_cast<occlDataType_t>(dtype),
                         static_cast<occlRedOp_t>(op), with, nullptr);
  };
  expectRefused(sum(host, 4, occlFloat32, occlSum, comm), occlInvalidArgument,
                "send: these 16 bytes are not all device memory");
  expectRefused(sum(ptr, 17, occlFloat32, occlSum, comm), occlInvalidArgument,
                "not all device memory");
  expectRefused(sum(ptr, 4, 77, occlSum, comm), occlInvalidArgument, "dtype");
  expectRefused(sum(ptr, 4, occlFloat32, occlBitAnd, comm), occlInvalidArgument,
                "op 5 cannot reduce float32");
  expectRefused(sum(ptr, 4, occlFloat32, occlSum, nullptr), occlInvalidArgument,
                "not live");
  expectRefused(occlSend(ptr, 1, occlFloat32, 1, comm, nullptr), occlInvalidArgument,
                "rank 1 is not one of 1");
  expectRefused(occlSendTag(ptr, 1, occlFloat32, 0, -1, comm, nullptr),
                occlInvalidArgument, "tag -1");
  expectRefused(occlGroupEnd(), occlInvalidUsage, "call occlGroupStart() first");
  occlComm_t other = nullptr;
  expectRefused(occlCommInitRank(&other, 1, occlUniqueId{}, 0), occlInvalidArgument,
                "not made by occlGetUniqueId()");
  EXPECT_OK(orDeviceSynchronize());
}

TEST_F(OcclTest, WithoutSharedMemoryAPlugInIsNeeded) {
  occlUniqueId id;
  EXPECT_EQ(occlGetUniqueId(&id), occlSuccess);
  setenv("OCCL_SHM_DISABLE", "1", 1);
  occlComm_t comm = nullptr;
  expectRefused(occlCommInitRank(&comm, 1, id, 0), occlSystemError,
                "OCCL_SHM_DISABLE is set, or /proc is missing; ranks on several hosts "
                "need a network plug-in");
  unsetenv("OCCL_SHM_DISABLE");
  expectRefused(occlCommInitRank(&comm, 1, id, 0), occlSystemError,
                "cannot be reached");
}

TEST_F(OcclTest, AGroupWithARefusedCallDoesNothing) {
  const Alone comm;
  const DeviceMemory memory(64);
  EXPECT_EQ(occlGroupStart(), occlSuccess);
  EXPECT_EQ(occlVerify("text", comm, nullptr), occlSuccess);
  EXPECT_EQ(occlSend(memory.get(), 1, occlUint8, 3, comm, nullptr),
            occlInvalidArgument);
  expectRefused(occlGroupEnd(), occlInvalidUsage, "none of its calls was made");
  EXPECT_EQ(occlVerify("text", comm, nullptr), occlSuccess);
  EXPECT_OK(orDeviceSynchronize());
}

TEST_F(OcclTest, IsRefusedDuringACapture) {
  const Alone comm;
  const Stream stream;
  orGraph_t graph = nullptr;
  EXPECT_OK(orStreamBeginCapture(stream, orStreamCaptureModeRelaxed));
  expectRefused(occlVerify("text", comm, stream), occlInvalidUsage, "is capturing");
  EXPECT_OK(orStreamEndCapture(stream, &graph));
  EXPECT_OK(orGraphDestroy(graph));
}

}  // namespace
}  // namespace openreg_test
