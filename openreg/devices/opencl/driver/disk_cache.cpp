// Compiled programs in files; see docs/opencl/driver.md.
#include "disk_cache.h"

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "config.h"

namespace oclrt {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[8] = {'o', 'c', 'l', 'r', 't', '0', '1', '\n'};

uint64_t hash_of(const void* data, size_t size, uint64_t hash) {  // FNV-1a
  const auto* bytes = static_cast<const unsigned char*>(data);
  for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3ULL;
  return hash;
}

fs::path path_of(const std::string& key) {
  char name[48];
  std::snprintf(name, sizeof name, "%016llx%016llx.bin",
                static_cast<unsigned long long>(
                    hash_of(key.data(), key.size(), 0xcbf29ce484222325ULL)),
                static_cast<unsigned long long>(
                    hash_of(key.data(), key.size(), 0x9e3779b97f4a7c15ULL)));
  return fs::path(config().cache_directory) / name;
}

struct Header {
  char magic[8];
  uint64_t key_size;
  uint64_t binary_size;
  uint64_t checksum;  // of the key and the binary
};

uint64_t checksum_of(std::string_view key, const unsigned char* binary, size_t size) {
  return hash_of(binary, size, hash_of(key.data(), key.size(), 0xcbf29ce484222325ULL));
}

}  // namespace

std::vector<unsigned char> load_binary(const std::string& key) {
  if (config().cache_directory.empty()) return {};
  const fs::path path = path_of(key);
  std::error_code failed;
  const uintmax_t size = fs::file_size(path, failed);
  std::ifstream file(path, std::ios::binary);
  Header header{};
  if (failed || !file.read(reinterpret_cast<char*>(&header), sizeof header)) return {};
  if (std::memcmp(header.magic, kMagic, sizeof kMagic) != 0 ||
      header.key_size != key.size() ||
      size - sizeof header - key.size() != header.binary_size) {
    return {};
  }
  std::string found(key.size(), '\0');
  std::vector<unsigned char> binary(header.binary_size);
  file.read(found.data(), static_cast<std::streamsize>(found.size()));
  file.read(reinterpret_cast<char*>(binary.data()),
            static_cast<std::streamsize>(binary.size()));
  const bool whole = file && found == key &&
                     header.checksum == checksum_of(key, binary.data(), binary.size());
  return whole ? binary : std::vector<unsigned char>{};
}

// LITERALINCLUDE START: STORE
void store_binary(const std::string& key, const std::vector<unsigned char>& binary) {
  if (config().cache_directory.empty() || binary.empty()) return;
  std::error_code failed;
  fs::create_directories(config().cache_directory, failed);
  if (failed) return;
  // Another process reads the old file or the new one, never a part of one.
  static std::atomic<unsigned> counter = 0;
  const fs::path path = path_of(key);
  fs::path written = path;
  written += "." + std::to_string(getpid()) + "." + std::to_string(counter++);
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.key_size = key.size();
  header.binary_size = binary.size();
  header.checksum = checksum_of(key, binary.data(), binary.size());
  std::ofstream file(written, std::ios::binary);
  file.write(reinterpret_cast<const char*>(&header), sizeof header);
  file.write(key.data(), static_cast<std::streamsize>(key.size()));
  file.write(reinterpret_cast<const char*>(binary.data()),
             static_cast<std::streamsize>(binary.size()));
  file.close();
  if (file) fs::rename(written, path, failed);
  if (!file || failed) fs::remove(written, failed);
}
// LITERALINCLUDE END: STORE

}  // namespace oclrt
