// String: text of a message. Decoded messages alias the frame's bytes; everything else owns its text.
//
// Copying a String always makes an owner, so what was copied out of a frame may be kept. Moving keeps an alias an
// alias.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace thalweg::base {

class String {
 public:
  String() = default;
  // Implicit on purpose: a field is assigned from any text, and owns a copy of it.
  String(std::string_view text) { assign(text); }    // NOLINT(google-explicit-constructor)
  String(const char* text) { assign(text); }         // NOLINT(google-explicit-constructor)
  String(const std::string& text) { assign(text); }  // NOLINT(google-explicit-constructor)
  String(const String& other) { assign(other.view()); }
  String(String&& other) noexcept : data_(other.data_), size_(other.size_), owned_(other.owned_) { other.forget(); }
  String& operator=(const String& other);
  String& operator=(String&& other) noexcept;
  ~String() {
    if (owned_) delete[] data_;
  }

  // Points at `text`, which must outlive the String and everything it is moved to.
  static String alias(std::string_view text) {
    String s;
    s.data_ = text.data();
    s.size_ = static_cast<std::uint32_t>(text.size());
    return s;
  }

  [[nodiscard]] std::string_view view() const { return {data_, size_}; }
  operator std::string_view() const { return view(); }  // NOLINT(google-explicit-constructor)
  [[nodiscard]] std::string str() const { return std::string(view()); }
  [[nodiscard]] const char* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] bool owns() const { return owned_; }

  friend bool operator==(const String& a, const String& b) { return a.view() == b.view(); }
  friend std::strong_ordering operator<=>(const String& a, const String& b) { return a.view() <=> b.view(); }
  friend bool operator==(const String& a, std::string_view b) { return a.view() == b; }
  friend bool operator==(const String& a, const char* b) { return a.view() == b; }

 private:
  void assign(std::string_view text);
  void forget() {
    data_ = "";
    size_ = 0;
    owned_ = false;
  }

  const char* data_ = "";
  std::uint32_t size_ = 0;
  bool owned_ = false;
};

// A String that cannot be mistaken for another kind of text.
template <class Tag>
class StrongString : public String {
 public:
  StrongString() = default;
  StrongString(std::string_view text) : String(text) {}    // NOLINT(google-explicit-constructor)
  StrongString(const char* text) : String(text) {}         // NOLINT(google-explicit-constructor)
  StrongString(const std::string& text) : String(text) {}  // NOLINT(google-explicit-constructor)
  explicit StrongString(String text) : String(std::move(text)) {}
  static StrongString alias(std::string_view text) { return StrongString(String::alias(text)); }

  friend bool operator==(const StrongString& a, const StrongString& b) { return a.view() == b.view(); }
  friend bool operator==(const StrongString& a, std::string_view b) { return a.view() == b; }
  friend bool operator==(const StrongString& a, const char* b) { return a.view() == b; }
  friend std::strong_ordering operator<=>(const StrongString& a, const StrongString& b) {
    return a.view() <=> b.view();
  }
  template <class Other>
  friend bool operator==(const StrongString&, const StrongString<Other>&) = delete;
};

// Lets unordered containers keyed by std::string look up a string_view or a String without a copy.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};
struct TextEqual {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const { return a == b; }
};

}  // namespace thalweg::base
