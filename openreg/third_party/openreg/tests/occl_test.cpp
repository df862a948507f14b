// Collectives and messages between processes. See docs/modules/distributed.md.
#include <cmath>
#include <numeric>

#include "occl_support.h"

namespace openreg_test {
namespace {

TEST(OcclDeathTest, EveryTypeIsReduced) {
  EXPECT_RANKS(3, [](Rank me) {
    const int own = me.rank + 1;
    requireReduction<float>(me, occlFloat32, occlSum, own * 0.5f, 3.0f);
    requireReduction<double>(me, occlFloat64, occlAvg, own, 2.0);
    requireReduction<int8_t>(me, occlInt8, occlProd, static_cast<int8_t>(10 * own),
                             static_cast<int8_t>(6000));
    requireReduction<uint8_t>(me, occlUint8, occlMax, static_cast<uint8_t>(255 - own),
                              254);
    requireReduction<int32_t>(me, occlInt32, occlMin, -own, -3);
    requireReduction<uint32_t>(me, occlUint32, occlBitOr, 1u << own, 14u);
    requireReduction<int64_t>(me, occlInt64, occlBitXor, own, 0);
    requireReduction<uint64_t>(me, occlUint64, occlBitAnd, 7u + own, 8u);
    // 1, 2 and 3 as 16-bit floats; their sum is 6.
    constexpr uint16_t kHalf[] = {0x3C00, 0x4000, 0x4200};
    requireReduction<uint16_t>(me, occlFloat16, occlSum, kHalf[me.rank], 0x4600);
    constexpr uint16_t kBfloat[] = {0x3F80, 0x4000, 0x4040};
    requireReduction<uint16_t>(me, occlBfloat16, occlAvg, kBfloat[me.rank], 0x4000);
  });
}

TEST(OcclDeathTest, NansStay) {
  EXPECT_RANKS(2, [](Rank me) {
    for (occlRedOp_t op : {occlMin, occlMax}) {
      Numbers<float> numbers(
          std::vector<float>{me.rank == 0 ? NAN : 1.0f, me.rank == 1 ? NAN : 1.0f});
      REQUIRE_OCCL(occlAllReduce(numbers.get(), numbers.get(), 2, occlFloat32, op,
                                 me.comm, nullptr));
      for (float number : numbers.read()) REQUIRE(std::isnan(number));
    }
  });
}

TEST(OcclDeathTest, CollectivesMoveWhatTheySay) {
  EXPECT_RANKS(3, [](Rank me) {
    for (size_t count : {1, 5, 150'001}) {
      const Numbers<int> mine(count, me.rank + 1);
      Numbers<int> all(3 * count, 0);
      REQUIRE_OCCL(
          occlAllGather(mine.get(), all.get(), count, occlInt32, me.comm, nullptr));
      const auto gathered = all.read();
      for (size_t i = 0; i < 3 * count; ++i) {
        REQUIRE(gathered[i] == static_cast<int>(i / count) + 1);
      }
      Numbers<int> part(count, 0);
      REQUIRE_OCCL(occlReduceScatter(all.get(), part.get(), count, occlInt32, occlSum,
                                     me.comm, nullptr));
      REQUIRE(part.are(3 * (me.rank + 1)));
      REQUIRE_OCCL(
          occlBroadcast(mine.get(), part.get(), count, occlInt32, 2, me.comm, nullptr));
      REQUIRE(part.are(3));
      REQUIRE_OCCL(occlReduce(mine.get(), part.get(), count, occlInt32, occlSum, 1,
                              me.comm, nullptr));
      REQUIRE(part.are(me.rank == 1 ? 6 : 3));
    }
  });
}

TEST(OcclDeathTest, MessagesOfAGroupDoNotBlockEachOther) {
  EXPECT_RANKS(3, [](Rank me) {
    const int next = (me.rank + 1) % 3;
    const int previous = (me.rank + 2) % 3;
    for (size_t count : {0, 1, 1'000'000}) {
      const Numbers<float> out(count, me.rank + 1.0f);
      Numbers<float> in(count, 0.0f);
      REQUIRE(occlGroupStart() == occlSuccess);
      REQUIRE(occlSend(out.get(), count, occlFloat32, next, me.comm, nullptr) ==
              occlSuccess);
      REQUIRE(occlRecv(in.get(), count, occlFloat32, previous, me.comm, nullptr) ==
              occlSuccess);
      REQUIRE_OCCL(occlGroupEnd());
      REQUIRE(in.are(previous + 1.0f));
    }
  });
}

TEST(OcclDeathTest, MessagesMeetByTagAndInOrder) {
  EXPECT_RANKS(2, [](Rank me) {
    Numbers<int> numbers(1, 0);
    if (me.rank == 0) {
      Stream streams[3];
      const Numbers<int> values(std::vector<int>{10, 11, 12});
      for (int tag = 0; tag < 3; ++tag) {
        REQUIRE(occlSendTag(values.get() + tag, 1, occlInt32, 1, tag, me.comm,
                            streams[tag]) == occlSuccess);
      }
      REQUIRE(orDeviceSynchronize() == orSuccess);
      for (int step = 0; step < 200; ++step) {
        const Numbers<int> value(1, step);
        REQUIRE_OCCL(occlSend(value.get(), 1, occlInt32, 1, me.comm, nullptr));
      }
      return;
    }
    for (int tag : {2, 0, 1}) {
      REQUIRE_OCCL(occlRecvTag(numbers.get(), 1, occlInt32, occlAnySource, tag, me.comm,
                               nullptr));
      REQUIRE(numbers.are(10 + tag));
    }
    for (int step = 0; step < 200; ++step) {
      REQUIRE_OCCL(occlRecv(numbers.get(), 1, occlInt32, 0, me.comm, nullptr));
      REQUIRE(numbers.are(step));
    }
  });
}

// More messages than a rank can send at a time, received while they are sent.
TEST(OcclDeathTest, MessagesOfATagArriveInTheirOrder) {
  EXPECT_RANKS(2, [](Rank me) {
    constexpr int kMessages = 300;
    std::vector<int> order(kMessages);
    std::iota(order.begin(), order.end(), 0);
    for (int round = 0; round < 100; ++round) {
      const Numbers<int> sent(order);
      Numbers<int> received(kMessages, -1);
      REQUIRE(occlGroupStart() == occlSuccess);
      for (int i = 0; i < kMessages; ++i) {
        REQUIRE((me.rank == 0
                     ? occlSend(sent.get() + i, 1, occlInt32, 1, me.comm, nullptr)
                     : occlRecv(received.get() + i, 1, occlInt32, 0, me.comm,
                                nullptr)) == occlSuccess);
      }
      REQUIRE_OCCL(occlGroupEnd());
      REQUIRE(me.rank == 0 || received.read() == order);
    }
  });
}

TEST(OcclDeathTest, AGroupIsOneKernelForAllRanks) {
  EXPECT_RANKS(3, [](Rank me) {
    const int size = me.size;
    Numbers<float> sums(3, 1.0f);
    Numbers<uint8_t> bytes(3, static_cast<uint8_t>(me.rank));
    const Numbers<int> mine(size, me.rank);
    Numbers<int> all(size, -1);
    REQUIRE(occlGroupStart() == occlSuccess);
    for (int root = 0; root < size; ++root) {
      REQUIRE(occlBroadcast(bytes.get() + root, bytes.get() + root, 1, occlUint8, root,
                            me.comm, nullptr) == occlSuccess);
    }
    REQUIRE(occlAllReduce(sums.get(), sums.get(), 3, occlFloat32, occlSum, me.comm,
                          nullptr) == occlSuccess);
    for (int peer = 0; peer < size; ++peer) {  // an all-to-all, itself included
      REQUIRE(occlSend(mine.get() + peer, 1, occlInt32, peer, me.comm, nullptr) ==
              occlSuccess);
      REQUIRE(occlRecv(all.get() + peer, 1, occlInt32, peer, me.comm, nullptr) ==
              occlSuccess);
    }
    REQUIRE_OCCL(occlGroupEnd());
    REQUIRE(sums.are(3.0f));
    REQUIRE(bytes.read() == (std::vector<uint8_t>{0, 1, 2}));
    REQUIRE(all.read() == (std::vector<int>{0, 1, 2}));
  });
}

TEST(OcclDeathTest, AReductionBehindOneBroadcastHasItsOwnChunks) {
  EXPECT_RANKS(3, [](Rank me) {
    Numbers<float> moved(300'001, me.rank * 1.0f);
    Numbers<float> sums(300'001, 1.0f);
    REQUIRE(occlGroupStart() == occlSuccess);
    REQUIRE(occlBroadcast(moved.get(), moved.get(), moved.size(), occlFloat32, 1,
                          me.comm, nullptr) == occlSuccess);
    REQUIRE(occlAllReduce(sums.get(), sums.get(), sums.size(), occlFloat32, occlSum,
                          me.comm, nullptr) == occlSuccess);
    REQUIRE_OCCL(occlGroupEnd());
    REQUIRE(moved.are(1.0f));
    REQUIRE(sums.are(3.0f));
  });
}

}  // namespace
}  // namespace openreg_test
