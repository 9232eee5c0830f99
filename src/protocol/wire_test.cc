#include "protocol/wire.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "protocol/messages/response_header.h"

namespace thalweg::protocol {
namespace {

// A response header v1 with one tagged field that nobody knows: read, and written again.
std::optional<std::string> written_again(std::string_view tag) {
  const std::vector<std::uint8_t> raw = base::hex_decode("0000000701" + std::string(tag) + "0101").value();
  const Bytes bytes = Bytes::copy_of(raw);
  Reader reader(bytes);
  ResponseHeader header;
  header.decode(reader, 1);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(header.unknown_tagged_fields.size(), 1U);
  Writer writer(64);
  header.encode(writer, 1);
  if (writer.fault() != nullptr) return std::nullopt;
  const auto chain = std::move(writer).finish();
  return base::hex_encode(chain.flatten().span());
}

// What the reference does: it reads any tag, as a signed number, and writes only those below the greatest.
TEST(Wire, TagsFromTheGreatestSignedNumberOnAreNeverWritten) {
  EXPECT_EQ(written_again("feffffff07"), "0000000701feffffff070101");
  EXPECT_EQ(written_again("ffffffff07"), std::nullopt);
  EXPECT_EQ(written_again("8080808008"), std::nullopt);
  EXPECT_EQ(written_again("ffffffff0f"), std::nullopt);
}

}  // namespace
}  // namespace thalweg::protocol
