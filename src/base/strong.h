// Strong<Tag, Rep>: a number that cannot be mistaken for another kind of number.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace thalweg::base {

template <class Tag, class Rep>
class Strong {
 public:
  using rep = Rep;
  constexpr Strong() = default;
  constexpr explicit Strong(Rep value) : value_(value) {}
  [[nodiscard]] constexpr Rep value() const { return value_; }
  friend constexpr bool operator==(Strong, Strong) = default;
  friend constexpr auto operator<=>(Strong, Strong) = default;

 private:
  Rep value_{};
};

}  // namespace thalweg::base

template <class Tag, class Rep>
struct std::hash<thalweg::base::Strong<Tag, Rep>> {
  std::size_t operator()(thalweg::base::Strong<Tag, Rep> id) const { return std::hash<Rep>{}(id.value()); }
};
