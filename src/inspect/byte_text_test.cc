#include "inspect/byte_text.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "inspect/page.h"

namespace thalweg::inspect {
namespace {

using base::Bytes;

// The bytes as digits, or the fault.
std::string hex(std::string_view text) {
  const auto bytes = read_hex(text);
  return bytes ? base::hex_encode(bytes->span()) : bytes.error().str();
}
std::string base64(std::string_view text) {
  const auto bytes = read_base64(text);
  return bytes ? base::hex_encode(bytes->span()) : bytes.error().str();
}

TEST(ReadHex, TakesDigitsInEveryDress) {
  for (const char* text :
       {"00120abc", "00 12 0a bc", "0012 0abc\n", "0x00120abc", "0x00, 0x12, 0x0a, 0xbc", "00:12:0A:BC", "00-12-0a-bc",
        "\\x00\\x12\\x0a\\xbc", "0x0 0x12 0xa 0xbc", "  00\r\n12\t0a bc ", "# what it is\n0012\n# and more\n0abc"})
    EXPECT_EQ(hex(text), "00120abc") << text;
}

TEST(ReadHex, SaysWhereItIsNone) {
  EXPECT_EQ(hex("00 12\n0g"), "line 2, column 2: \"g\" is no hexadecimal digit");
  EXPECT_EQ(hex("00 12 0"), "line 1, column 7: the last byte has one digit only");
  EXPECT_EQ(hex("001 0x12"), "line 1, column 3: a digit alone");
  EXPECT_EQ(hex("# nothing\n"), "there are no bytes");
  EXPECT_EQ(hex(""), "there are no bytes");
  EXPECT_EQ(hex("-:0x"), "there are no bytes");
}

// 20 bytes from 0x00 on, as each program prints them; the characters beside them look like digits.
const std::string kTwenty = "6162636465666768696a6b6c6d6e6f7061626364";

TEST(ReadHex, TakesTheDumpsOfManyPrograms) {
  // xxd
  EXPECT_EQ(hex("00000000: 6162 6364 6566 6768 696a 6b6c 6d6e 6f70  abcdefghijklmnop\n"
                "00000010: 6162 6364                                abcd\n"),
            kTwenty);
  EXPECT_EQ(hex("00000000: 61 62 63 64 65 66 67 68  abcdefab\n"
                "00000008: 61 62 63 64              abcd\n"),
            "616263646566676861626364");
  // hexdump -C
  EXPECT_EQ(hex("00000000  61 62 63 64 65 66 67 68  69 6a 6b 6c 6d 6e 6f 70  |abcdefghijklmnop|\n"
                "00000010  61 62 63 64                                       |abcd|\n"
                "00000014\n"),
            kTwenty);
  // od -A x -t x1
  EXPECT_EQ(hex("000000 61 62 63 64 65 66 67 68 69 6a 6b 6c 6d 6e 6f 70\n"
                "000010 61 62 63 64\n"
                "000014\n"),
            kTwenty);
  // tcpdump -X
  EXPECT_EQ(hex("\t0x0000:  6162 6364 6566 6768 696a 6b6c 6d6e 6f70  abcdefghijklmnop\n"
                "\t0x0010:  6162 6364                                abcd\n"),
            kTwenty);
  // Wireshark
  EXPECT_EQ(hex("0000  61 62 63 64 65 66 67 68  69 6a 6b 6c 6d 6e 6f 70   abcdefgh ijklmnop\n"
                "0010  61 62 63 64                                         abcd\n"),
            kTwenty);
  // A dump of the middle of something.
  EXPECT_EQ(hex("00000100: 6162 6364 6566 6768 696a 6b6c 6d6e 6f70  abcdefghijklmnop\n"
                "00000110: 6162 6364                                abcd\n"),
            kTwenty);
}

TEST(ReadHex, TakesTheRowsThatInspectPrints) {
  for (const std::size_t size : {1U, 7U, 8U, 9U, 16U, 17U, 100U}) {
    std::string content;
    for (std::size_t i = 0; i < size; ++i) content += static_cast<char>(i * 37);
    const Bytes bytes = Bytes::copy_of(content);
    EXPECT_EQ(hex(hex_rows(bytes)), base::hex_encode(bytes.span()));
  }
}

TEST(ReadHex, PutsInAgainWhatHexdumpLeavesOut) {
  EXPECT_EQ(hex("00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n"
                "*\n"
                "00000030  01 02                                             |..|\n"
                "00000032\n"),
            std::string(96, '0') + "0102");
  EXPECT_EQ(hex("00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n"
                "*\n"
                "00000020\n"),
            std::string(64, '0'));
  EXPECT_EQ(hex("00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n"
                "*\n"
                "7fffffff0\n"),
            "line 3, column 1: the rows left out with * stand for more than a mebibyte");
}

TEST(ReadHex, RefusesADumpWhoseOffsetsDoNotCountItsBytes) {
  EXPECT_EQ(hex("0000  61 62 63 64\n0000  61 62 63 64\n"), "line 2, column 1: an offset of 0x0 after 0x4");
  EXPECT_EQ(hex("0000  61 62 63 64\n0010  61 62 63 64\n"), "line 2, column 1: an offset of 0x10 after 0x4");
}

TEST(ReadHex, RefusesWordsInTheOrderOfTheMachine) {
  EXPECT_NE(hex("0000000 6261 6463\n0000004\n").find("use hexdump -C or xxd"), std::string::npos);
}

TEST(ReadHex, TakesGroupsOfDigitsForDigits) {
  EXPECT_EQ(hex("0000000c 0012 0000 00000007 0002 6d65"),
            "0000000c00120000000000070002"
            "6d65");
  EXPECT_EQ(hex("0000 0014\n0010 0020"), "0000001400100020");
}

TEST(ReadBase64, TakesBothAlphabetsWithOrWithoutPadding) {
  for (const char* text : {"+/+/AA==", "-_-_AA", "-_-_AA==", "+/+/\nAA=="}) EXPECT_EQ(base64(text), "fbffbf00") << text;
  EXPECT_EQ(base64("AA"), "00");
  EXPECT_EQ(base64("AAA="), "0000");
}

TEST(ReadBase64, SaysWhereItIsNone) {
  EXPECT_EQ(base64("AA?A"), "line 1, column 3: \"?\" is no digit of base64");
  EXPECT_EQ(base64("AA==AA"), "line 1, column 5: a digit behind the padding");
  EXPECT_EQ(base64("AAAAA"), "the last digit of base64 stands alone");
  EXPECT_EQ(base64("AAA=="), "the padding does not fit the digits of base64");
  EXPECT_EQ(base64("===="), "there are no bytes");
}

TEST(GuessForm, TellsTextFromBytes) {
  EXPECT_EQ(guess_form("00120abc"), ByteForm::hex);
  EXPECT_EQ(guess_form("00000000: 6162 6364  ab?~"), ByteForm::hex);
  EXPECT_EQ(guess_form("AAAADAASAAA="), ByteForm::base64);
  EXPECT_EQ(guess_form(std::string_view("\0\0\0\x0c", 4)), ByteForm::binary);
  EXPECT_EQ(guess_form("\xff"), ByteForm::binary);
  EXPECT_EQ(guess_form("00 12 0g 00 00 00 00 00 00 00 00"), ByteForm::hex);
}

}  // namespace
}  // namespace thalweg::inspect
