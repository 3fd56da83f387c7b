/* driver.cc - drives LevelDB's Bloom filter policy. See ../lib/interop.sh. P is the number of bits
 * per key. The driver lacks `add`, since the policy requires all keys in a single call. */
#include <leveldb/filter_policy.h>
#include <leveldb/slice.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

static int nibble(char c)
{
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

static std::string key_of(const std::string &type, const std::string &line)
{
    std::string key;
    if (type != "hex") return line;
    for (size_t i = 0; i + 1 < line.size(); i += 2)
        key += static_cast<char>(nibble(line[i]) << 4 | nibble(line[i + 1]));
    return key;
}

static std::vector<std::string> keys(const std::string &type, const char *path)
{
    std::ifstream file(path);
    std::vector<std::string> all;
    for (std::string line; std::getline(file, line);) all.push_back(key_of(type, line));
    return all;
}

int main(int argc, char **argv)
{
    const std::string verb = argc > 3 ? argv[1] : "", type = argc > 3 ? argv[3] : "";
    if (verb == "make" && argc == 8) {
        std::unique_ptr<const leveldb::FilterPolicy> policy(
            leveldb::NewBloomFilterPolicy(std::atoi(argv[6])));
        const std::vector<std::string> all = keys(type, argv[4]);
        const std::vector<leveldb::Slice> slices(all.begin(), all.end());
        std::string filter;
        policy->CreateFilter(slices.data(), static_cast<int>(slices.size()), &filter);
        std::ofstream(argv[7], std::ios::binary) << filter;
    } else if (verb == "ask" && argc == 6) {
        std::unique_ptr<const leveldb::FilterPolicy> policy(leveldb::NewBloomFilterPolicy(10));
        std::ifstream file(argv[4], std::ios::binary);
        const std::string filter((std::istreambuf_iterator<char>(file)),
                                 std::istreambuf_iterator<char>());
        for (const std::string &key : keys(type, argv[5]))
            std::cout << policy->KeyMayMatch(key, filter) << '\n';
    } else {
        return 2;
    }
    return 0;
}
