// Compiled programs in files; see docs/opencl/driver.md.
#pragma once

#include <string>
#include <vector>

namespace oclrt {

// The binary that was stored under the whole key; empty when there is none. A file that
// is damaged, or that another key has, counts as none.
std::vector<unsigned char> load_binary(const std::string& key);

// Stores it for this process and later ones. A failing write is not an error: the next
// process compiles again.
void store_binary(const std::string& key, const std::vector<unsigned char>& binary);

}  // namespace oclrt
