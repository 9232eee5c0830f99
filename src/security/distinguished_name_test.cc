// The texts are what Java 17 prints for the same bytes (X500Principal.getName()).
#include "security/distinguished_name.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/text.h"

namespace thalweg::security {
namespace {

std::string printed(std::string_view hex) {
  const std::vector<std::uint8_t> der = base::hex_decode(hex).value();
  const unsigned char* at = der.data();
  const std::unique_ptr<X509_NAME, decltype(&X509_NAME_free)> name(
      d2i_X509_NAME(nullptr, &at, static_cast<long>(der.size())), X509_NAME_free);
  return name == nullptr ? "no name" : distinguished_name(name.get());
}

TEST(DistinguishedName, IsWhatJavaPrints) {
  struct Case {
    const char* der;
    const char* text;
  };
  const std::vector<Case> cases = {
      {"306a310b3009060355040613024445310f300d06035504080c0642617965726e3111300f06035504070c084dc3bc6e6368656e311630140"
       "60355040a0c0d4578616d706c652c20496e632e3110300e060355040b0c076f70732b646576310d300b06035504030c046b617465",
       "CN=kate,OU=ops\\+dev,O=Example\\, Inc.,L=M\303\274nchen,ST=Bayern,C=DE"},
      {"305331133011060a0992268993f22c64011916036f726731173015060a0992268993f22c64011916076578616d706c6531123010060a099"
       "2268993f22c6401010c027531310f300d06035504090c064d61696e2031",
       "STREET=Main 1,UID=u1,DC=example,DC=org"},
      {"302f310a300806035504030c01613114301206092a864886f70d01090116056140622e63310b3009060355040513023432",
       "2.5.4.5=#13023432,1.2.840.113549.1.9.1=#16056140622e63,CN=a"},
      {"301b3119301706035504030c10206c65616420616e6420747261696c20", "CN=\\ lead and trail\\ "},
      {"30133111300f06035504030c082368617368202332", "CN=\\#hash \\#2"},
      {"30183116301406035504030c0d613d623c633e643b6522665c67", "CN=a\\=b\\<c\\>d\\;e\\\"f\\\\g"},
      {"30223114300806035504030c01613008060355040b0c0162310a3008060355040a0c0163", "O=c,CN=a+OU=b"},
      {"30153113301106035504031e0a0042006d0070002000fc", "CN=\\00B\\00m\\00p\\00 \\00\357\277\275"},
      {"30133111300f060355040314085436312074657874", "CN=T61 text"},
      {"30173115301306035504031c0c000000550000006e00000069", "CN=#1c0c000000550000006e00000069"},
      {"300e310c300a06035504031203313233", "CN=#1203313233"},
      {"300b3109300706035504030c00", "CN="},
      {"300e310c300a06035504030c03610a62", "CN=a\012b"},
      {"3010310e300c06035504030c050d0a207809", "CN=\\\015\012 x\011"},
      {"300e310c300a06035504030c03610062", "CN=a\\00b"},
      {"300e310c300a06035504030c03202020", "CN=\\ \\ \\ "},
      {"3019310b3009060355040c0c024472310a3008060355042a0c0147", "2.5.4.42=#0c0147,2.5.4.12=#0c024472"},
      {"300d310b300906035504031402fc62", "CN=\357\277\275b"},
      {"30183116301406035504030c0d736e6f7720e2988320f09d849e", "CN=snow \342\230\203 \360\235\204\236"},
      {"3000", ""},
  };
  for (const Case& one : cases) EXPECT_EQ(printed(one.der), one.text);
}

}  // namespace
}  // namespace thalweg::security
