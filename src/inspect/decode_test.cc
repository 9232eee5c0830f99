#include "inspect/decode.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "inspect/print.h"
#include "inspect/records_json.h"
#include "inspect/secrets.h"
#include "protocol/messages/api_versions_response.h"
#include "protocol/messages/consumer_protocol_subscription.h"
#include "protocol/messages/join_group_request.h"
#include "protocol/messages/offset_commit_key.h"
#include "protocol/messages/offset_commit_value.h"
#include "protocol/messages/push_telemetry_request.h"
#include "protocol/record_batch_builder.h"

namespace thalweg::inspect {
namespace {

using base::Bytes;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const Catalog& catalog() { return Catalog::built_in(); }

Bytes hex(std::string_view digits) { return Bytes::copy_of(*base::hex_decode(digits)); }
std::span<const std::uint8_t> span_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

Envelope body_of(std::string_view name, int version) {
  return {.message = &catalog().find(name)->message, .version = version};
}

// The body of a message; what comes first stands in front of it.
template <class M>
Bytes encode(const M& message, int version, std::optional<std::int16_t> first = std::nullopt) {
  protocol::Writer writer;
  if (first) writer.fixed(*first);
  message.encode(writer, version);
  return std::move(writer).finish().flatten();
}

std::string text_of(const Decoded& decoded, const Bytes& bytes) {
  EXPECT_TRUE(covers(decoded.tree));
  return decoded_text(decoded, bytes);
}
std::string text_of(const Envelope& envelope, const Bytes& bytes, const DecodeOptions& options = {}) {
  return text_of(decode(catalog(), envelope, bytes, options), bytes);
}

Bytes batch_of(std::string_view key, std::string_view value, protocol::BatchOptions options = {}) {
  protocol::RecordBatchBuilder builder(options);
  protocol::RecordInput input;
  input.offset = options.base_offset;
  input.timestamp = 1704067200000;
  input.key = span_of(key);
  input.value = span_of(value);
  builder.append(input);
  return builder.build();
}

// -- which message --

TEST(RecognizeRequest, KnowsApiVersionAndHeader) {
  const auto metadata = recognize_request(catalog(), hex("00000000"
                                                         "0003000c")
                                                         .span());
  ASSERT_TRUE(metadata);
  EXPECT_EQ(metadata->message->name, "MetadataRequest");
  EXPECT_EQ(metadata->version, 12);
  EXPECT_EQ(metadata->header_version, 2);
  EXPECT_EQ(recognize_request(catalog(), hex("00000000"
                                             "00030008")
                                             .span())
                ->header_version,
            1);
}

TEST(RecognizeRequest, SaysWhyItIsNone) {
  EXPECT_EQ(recognize_request(catalog(), hex("0000000000030"
                                             "0")
                                             .span())
                .error(),
            "7 bytes are too few for a request");
  EXPECT_EQ(recognize_request(catalog(), hex("0000000012670000").span()).error(), "no API has the key 4711");
  EXPECT_EQ(recognize_request(catalog(), hex("0000000000030064").span()).error(),
            "MetadataRequest has no version 100: its versions are 0-14");
}

TEST(FrameSize, CountsItsOwnFourBytes) {
  EXPECT_EQ(frame_size(hex("00000005").span()), 9U);
  EXPECT_EQ(frame_size(hex("000005").span()), std::nullopt);
  EXPECT_EQ(frame_size(hex("ffffffff").span()), std::nullopt);
  EXPECT_EQ(frame_size(hex("00000005").span(), 4), std::nullopt);
}

// -- faults --

TEST(Decode, AFaultSaysWhatWasExpectedAndWhatStandsThere) {
  const Bytes bytes = hex("00000002000174000a7461");
  const std::string text = text_of(body_of("MetadataRequest", 0), bytes);
  EXPECT_THAT(text,
              AllOf(HasSubstr("Name string = \"t\""), HasSubstr("These bytes do not parse."),
                    HasSubstr("field      MetadataRequest.Topics[1].Name\n"), HasSubstr("offset     9 (0x0009)\n"),
                    HasSubstr("expected   string\n"), HasSubstr("found      74 61 and the end\n"),
                    HasSubstr("fault      a length beyond the end\n")));
  EXPECT_EQ(fault_line(decode(catalog(), body_of("MetadataRequest", 0), bytes)),
            "MetadataRequest.Topics[1].Name at byte 9: a length beyond the end");
}

TEST(Decode, AnAnswerInTheOldestVersionOfApiVersionsIsRead) {
  protocol::ApiVersionsResponse response;
  response.error_code = protocol::ErrorCode::unsupported_version;
  response.api_keys.push_back({.api_key = 18, .min_version = 0, .max_version = 4});
  protocol::Writer writer;
  writer.fixed<std::int32_t>(0);
  writer.fixed<std::int32_t>(7);
  response.encode(writer, 0);
  writer.patch_first_int32(static_cast<std::int32_t>(writer.size() - 4));
  const Bytes frame = std::move(writer).finish().flatten();
  const auto asked = api_envelope(catalog(), 18, 4, Side::second);
  const Decoded decoded = decode(catalog(), *asked, frame);
  EXPECT_FALSE(decoded.fault);
  EXPECT_EQ(decoded.envelope.version, 0);
  EXPECT_THAT(text_of(decoded, frame), HasSubstr("ErrorCode int16 = 35 (UNSUPPORTED_VERSION)"));
}

// -- what is inside --

protocol::JoinGroupRequest join_request(const Bytes& metadata, std::string_view type = "consumer") {
  protocol::JoinGroupRequest request;
  request.group_id = protocol::GroupId(std::string_view("g"));
  request.protocol_type = type;
  request.protocols.push_back({.name = "range", .metadata = metadata});
  return request;
}

Bytes subscription() {
  protocol::ConsumerProtocolSubscription subscription;
  subscription.topics.push_back("orders");
  return encode(subscription, 1, std::int16_t{1});
}

TEST(Decode, SubscriptionsOfConsumersAreOpened) {
  const Bytes bytes = encode(join_request(subscription()), 5);
  const std::string text = text_of(body_of("JoinGroupRequest", 5), bytes);
  EXPECT_THAT(text, AllOf(HasSubstr("ConsumerProtocolSubscription message v1"), HasSubstr("string = \"orders\"")));
  // Of another protocol they stay closed.
  const Bytes other = encode(join_request(subscription(), "connect"), 5);
  EXPECT_THAT(text_of(body_of("JoinGroupRequest", 5), other), Not(HasSubstr("ConsumerProtocolSubscription")));
}

TEST(Decode, WhatWasOpenedStandsWhereItStands) {
  const Bytes bytes = encode(join_request(subscription()), 5);
  const std::size_t place = bytes.view().find("orders") - 2;
  EXPECT_THAT(text_of(body_of("JoinGroupRequest", 5), bytes),
              HasSubstr(fmt::format("string = \"orders\" (int16 len=6) [{:#06x}, 8B]", place)));
}

TEST(Decode, ADamagedSubscriptionIsNoFaultOfTheMessage) {
  const Bytes bytes = encode(join_request(hex("00010000000900")), 5);
  const Decoded decoded = decode(catalog(), body_of("JoinGroupRequest", 5), bytes);
  EXPECT_FALSE(decoded.fault);
  EXPECT_THAT(text_of(decoded, bytes), HasSubstr("damaged: ConsumerProtocolSubscription.Topics"));
}

TEST(Decode, WithoutAProtocolTypeAllTheBytesMustFit) {
  // SyncGroupResponse v0: throttle no, error 0, assignment of 2+4+4 bytes.
  const Bytes fits =
      hex("0000"
          "0000000a"
          "000000000000ffffffff");
  EXPECT_THAT(text_of(body_of("SyncGroupResponse", 0), fits), HasSubstr("ConsumerProtocolAssignment message v0"));
  const Bytes more =
      hex("0000"
          "0000000b"
          "000000000000ffffffff00");
  EXPECT_THAT(text_of(body_of("SyncGroupResponse", 0), more), Not(HasSubstr("ConsumerProtocolAssignment")));
}

TEST(OpenedJson, HasPathMessageAndJson) {
  const Bytes bytes = encode(join_request(subscription()), 5);
  const auto found = opened_json(catalog(), body_of("JoinGroupRequest", 5), bytes);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].path, "protocols[0].metadata");
  EXPECT_EQ(found[0].json,
            R"("message":"ConsumerProtocolSubscription","version":1,"json":{"topics":["orders"],"userData":null,)"
            R"("ownedPartitions":[]})");
}

Bytes offset_commit(protocol::BatchOptions options = {}) {
  const protocol::OffsetCommitKey key{.group = "g", .topic = "t", .partition = 3};
  protocol::OffsetCommitValue value;
  value.offset = 42;
  const Bytes key_bytes = encode(key, 0, std::int16_t{1});
  const Bytes value_bytes = encode(value, 3, std::int16_t{3});
  return batch_of(key_bytes.view(), value_bytes.view(), options);
}

TEST(DecodeRecords, RecordsOfTheCoordinatorsAreOpenedWhereTheTopicIsKnown) {
  const Bytes batch = offset_commit();
  DecodeOptions options;
  options.walk.topic = "__consumer_offsets";
  const std::string text = text_of(decode_records(catalog(), batch, options), batch);
  EXPECT_THAT(text, AllOf(HasSubstr("OffsetCommitKey message v0"), HasSubstr("partition int32 = 3"),
                          HasSubstr("OffsetCommitValue message v3"), HasSubstr("offset int64 = 42")));
  EXPECT_THAT(text_of(decode_records(catalog(), batch), batch), Not(HasSubstr("OffsetCommitKey")));
  protocol::Decompressor decompressor;
  EXPECT_THAT(
      records_json(catalog(), batch.span(), decompressor, {.opened = true, .topic = "__consumer_offsets"}),
      HasSubstr(R"("opened":{"key":{"message":"OffsetCommitKey","version":0,"json":{"group":"g","topic":"t",)"));
}

TEST(DecodeRecords, CompressedRecordsCountInTheirOwnBytes) {
  const Bytes batch = offset_commit({.compression = protocol::CompressionType::zstd, .base_offset = 7});
  DecodeOptions options;
  options.walk.topic = "__consumer_offsets";
  const std::string text = text_of(decode_records(catalog(), batch, options), batch);
  EXPECT_THAT(
      text, AllOf(HasSubstr("zstd, "), HasSubstr("Record[0] Record [unpacked 0x0000, "),
                  HasSubstr("offset 7, 2024-01-01T00:00:00.000Z"), HasSubstr("OffsetCommitKey message v0 [unpacked")));
}

TEST(DecodeRecords, WhatUnpacksToMoreThanTheLimitStaysClosed) {
  const std::string zeros(100'000, '\0');
  const Bytes batch = batch_of("k", zeros, {.compression = protocol::CompressionType::gzip});
  DecodeOptions options;
  options.walk.max_unpacked_bytes = 50'000;
  const std::string text = text_of(decode_records(catalog(), batch, options), batch);
  EXPECT_THAT(text, AllOf(HasSubstr("not opened"), Not(HasSubstr("Record[0]"))));
  options.walk.max_unpacked_bytes = 150'000;
  EXPECT_THAT(text_of(decode_records(catalog(), batch, options), batch), HasSubstr("Record[0]"));
  // The limit is one for all batches together.
  const Bytes two = Bytes::copy_of(std::string(batch.view()) + std::string(batch.view()));
  const std::string both = text_of(decode_records(catalog(), two, options), two);
  EXPECT_THAT(both, AllOf(HasSubstr("Record[0]"), HasSubstr("not opened")));
}

TEST(DecodeRecords, ControlRecordsAreOpened) {
  const Bytes batch = batch_of(std::string_view("\0\0\0\1", 4), std::string_view("\0\0\0\0\0\5", 6),
                               {.producer_id = 1, .producer_epoch = 0, .transactional = true, .control = true});
  const std::string text = text_of(decode_records(catalog(), batch), batch);
  EXPECT_THAT(text, AllOf(HasSubstr("ControlRecordTypeSchema message v0"), HasSubstr("Type int16 = 1"),
                          HasSubstr("EndTxnMarker message v0"), HasSubstr("CoordinatorEpoch int32 = 5")));
}

TEST(DecodeRecords, DamageIsSeen) {
  const Bytes whole = offset_commit();
  EXPECT_FALSE(has_damage(decode_records(catalog(), whole).tree));
  EXPECT_FALSE(has_damage(decode_records(catalog(), whole.first(40)).tree));
  std::string spoilt(whole.view());
  spoilt[61] = '\x7f';
  EXPECT_TRUE(has_damage(decode_records(catalog(), Bytes::copy_of(spoilt)).tree));
}

TEST(Decode, MetricsAreOpenedByWhoeverKnowsThem) {
  const std::string metrics = "metrics";
  protocol::PushTelemetryRequest request;
  request.compression_type = 1;
  request.metrics = protocol::compress(protocol::CompressionType::gzip, std::nullopt, span_of(metrics));
  const Bytes bytes = encode(request, 0);
  std::string seen;
  DecodeOptions options;
  options.telemetry = [&](std::span<const std::uint8_t> content) {
    seen.assign(content.begin(), content.end());
    Node node;
    node.name = "Metrics";
    node.size = content.size();
    return std::vector<Node>{node};
  };
  const std::string text = text_of(body_of("PushTelemetryRequest", 0), bytes, options);
  EXPECT_EQ(seen, metrics);
  EXPECT_THAT(text, AllOf(HasSubstr("gzip, 7 bytes unpacked"), HasSubstr("Metrics [unpacked 0x0000, 7B]")));
}

// -- secrets --

// SaslAuthenticateRequest v0.
Bytes sasl(std::string_view token) {
  protocol::Writer writer;
  writer.bytes(Bytes::copy_of(token), false);
  return std::move(writer).finish().flatten();
}

TEST(Secrets, APasswordIsHiddenInTextAndHtmlUnlessAskedFor) {
  const Bytes bytes = sasl(std::string_view("\0alice\0hunter2", 14));
  const Envelope envelope = body_of("SaslAuthenticateRequest", 0);
  const Decoded hidden = decode(catalog(), envelope, bytes);
  EXPECT_TRUE(hidden.secrets);
  for (const std::string& shown : {text_of(hidden, bytes), decoded_html(decoded_html_part(hidden, bytes))}) {
    EXPECT_THAT(shown, AllOf(HasSubstr("PLAIN"), HasSubstr("alice"), Not(HasSubstr("hunter2")),
                             Not(HasSubstr(base::hex_encode(span_of("hunter2"))))));
  }
  EXPECT_THAT(decoded_html_part(hidden, bytes), Not(HasSubstr(">68</td>")));  // h
  const Decoded open = decode(catalog(), envelope, bytes, {.show_secrets = true});
  EXPECT_TRUE(open.secrets);
  EXPECT_THAT(text_of(open, bytes), HasSubstr("hunter2"));
  EXPECT_THAT(decoded_html_part(open, bytes), HasSubstr(">68</td>"));
}

TEST(Secrets, AProofOfScramIsHidden) {
  const Bytes bytes = sasl("c=biws,r=abcdef,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=");
  const std::string text = text_of(body_of("SaslAuthenticateRequest", 0), bytes);
  EXPECT_THAT(text, AllOf(HasSubstr("SCRAM"), HasSubstr("nonce string = \"abcdef\""),
                          HasSubstr("proof string = redacted"), Not(HasSubstr("dHzb"))));
}

TEST(Secrets, ATokenOfOauthIsHidden) {
  const Bytes bytes = sasl(
      "n,,\x01"
      "auth=Bearer eyJhbGciOi\x01\x01");
  const std::string text = text_of(body_of("SaslAuthenticateRequest", 0), bytes);
  EXPECT_THAT(text, AllOf(HasSubstr("OAUTHBEARER"), HasSubstr("redacted"), Not(HasSubstr("eyJ"))));
}

TEST(Secrets, WhatIsLeftAtAFaultIsHiddenWhereItCouldBeASecret) {
  std::string cut(sasl(std::string_view("\0alice\0hunter2", 14)).view());
  cut[3] = '\x7f';
  const Bytes bytes = Bytes::copy_of(cut);
  const Decoded decoded = decode(catalog(), body_of("SaslAuthenticateRequest", 0), bytes);
  ASSERT_TRUE(decoded.fault);
  const std::string text = text_of(decoded, bytes);
  EXPECT_THAT(text, AllOf(HasSubstr("found      ** **"), Not(HasSubstr("68 75 6e"))));
}

TEST(Secrets, RecordsOfTheMetadataLogHideThemToo) {
  // UserScramCredentialRecord, type 11, version 0: name "u", mechanism 1, salt "s", stored key "KEY1", server key
  // "KEY2".
  const Bytes batch = batch_of("", std::string_view("\x01\x0b\0\x02u\x01\x02s\x05KEY1\x05KEY2\x01\0\0\0\0", 23));
  for (const bool packed : {false, true}) {
    const Bytes bytes = packed
                            ? batch_of("", std::string_view("\x01\x0b\0\x02u\x01\x02s\x05KEY1\x05KEY2\x01\0\0\0\0", 23),
                                       {.compression = protocol::CompressionType::lz4})
                            : batch;
    DecodeOptions options;
    options.walk.topic = "__cluster_metadata";
    const Decoded decoded = decode_records(catalog(), bytes, options);
    EXPECT_TRUE(decoded.secrets);
    EXPECT_THAT(text_of(decoded, bytes), AllOf(HasSubstr("UserScramCredentialRecord"), Not(HasSubstr("KEY1")),
                                               Not(HasSubstr(base::hex_encode(span_of("KEY1"))))));
    EXPECT_THAT(decoded_html_part(decoded, bytes), Not(HasSubstr("KEY2")));
  }
}

TEST(Secrets, SettingsAreHiddenByTheirKeys) {
  EXPECT_TRUE(is_secret_setting("ssl.keystore.password"));
  EXPECT_TRUE(is_secret_setting("listener.name.sasl.scram-sha-256.sasl.jaas.config"));
  EXPECT_FALSE(is_secret_setting("retention.ms"));
  // AlterConfigsRequest v0: one broker, two settings.
  const auto text = [](std::string_view name) {
    protocol::Writer writer;
    writer.fixed<std::int32_t>(1);
    writer.fixed<std::int8_t>(4);
    writer.string("1", false);
    writer.fixed<std::int32_t>(1);
    writer.string(name, false);
    writer.string("VALUE", false);
    writer.boolean(false);
    const Bytes bytes = std::move(writer).finish().flatten();
    return text_of(body_of("AlterConfigsRequest", 0), bytes);
  };
  EXPECT_THAT(text("ssl.key.password"), Not(HasSubstr("VALUE")));
  EXPECT_THAT(text("compression.type"), HasSubstr("VALUE"));
}

bool has_field(const std::vector<schema::Field>& fields, std::string_view name) {
  return std::ranges::any_of(fields, [&](const schema::Field& field) { return field.name == name; });
}

// A field of such a name that is added to a schema must not be forgotten here.
TEST(Secrets, TheTableNamesEveryFieldThatSoundsLikeOne) {
  const auto listed = [](std::string_view message, std::string_view field) {
    return std::ranges::any_of(
        secret_fields(), [&](const SecretField& secret) { return secret.message == message && secret.field == field; });
  };
  std::size_t found = 0;
  for (const SecretField& secret : secret_fields()) {
    const MessageEntry* entry = catalog().find(secret.message);
    ASSERT_NE(entry, nullptr) << secret.message;
    bool there = has_field(entry->message.root.fields, secret.field);
    for (const schema::Struct& structure : entry->message.structs)
      there = there || (has_field(structure.fields, secret.field) &&
                        (secret.named_by.empty() || has_field(structure.fields, secret.named_by)));
    EXPECT_TRUE(there) << secret.message << "." << secret.field;
  }
  for (const SchemaFile& file : schema_files()) {
    const auto message = schema::parse_message(file.text);
    ASSERT_TRUE(message);
    std::vector<const schema::Struct*> structures = {&message->root};
    for (const schema::Struct& structure : message->structs) structures.push_back(&structure);
    for (const schema::Struct* structure : structures) {
      for (const schema::Field& field : structure->fields) {
        const bool sounds = field.type.kind == schema::Kind::bytes &&
                            (field.name == "AuthBytes" || field.name == "Hmac" || field.name.ends_with("Key") ||
                             field.name.starts_with("Salt") || field.name.ends_with("Password"));
        if (!sounds) continue;
        ++found;
        EXPECT_TRUE(listed(message->name, field.name)) << message->name << "." << field.name;
      }
    }
  }
  EXPECT_GE(found, 9U);
}

}  // namespace
}  // namespace thalweg::inspect
