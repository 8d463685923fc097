// SPDX-License-Identifier: Apache-2.0
// K and V of sixteen positions of one kv head, as sixteen lanes at a time. Include after a
// lanes_*.hpp.
#pragma once
#include "kv_layout.hpp"
#include "layout.hpp"

namespace redline::kernels {
namespace {

constexpr std::int64_t kTilesAhead = 2;

inline std::int64_t round_up(std::int64_t size, std::int64_t step) {
  return (size + step - 1) / step * step;
}

inline float to_float(float x) { return x; }
inline float to_float(std::uint16_t half) { return _cvtsh_ss(half); }
inline float to_float(std::int8_t x) { return static_cast<float>(x); }

// As a page holds them. Each read asks for what lies `ahead` bytes further: the same place of a
// page that is read soon.
template <class Element>
struct PageTile {
  static constexpr bool kHasScales = sizeof(Element) == 1;
  const Element *keys, *values;  // [E, 16], [16, E]
  std::int64_t size;             // E
  std::ptrdiff_t ahead;

  const std::uint16_t* key_scales() const {
    return reinterpret_cast<const std::uint16_t*>(keys) - size / kKvBlock * kLanes;
  }
  const std::uint16_t* value_scales() const {
    return reinterpret_cast<const std::uint16_t*>(values) - size / kKvBlock * kLanes;
  }
  void fetch(const Element* at) const {
    constexpr int kIntoSecondLevel = 2;  // the first one has too few misses under way
    __builtin_prefetch(reinterpret_cast<const std::byte*>(at) + ahead, 0, kIntoSecondLevel);
  }
  Floats key(std::int64_t e) const {  // of sixteen positions
    const Element* const at = keys + e * kLanes;
    fetch(at);
    if constexpr (kHasScales) return load(at) * load(key_scales() + e / kKvBlock * kLanes);
    return load(at);
  }
  Floats value(std::int64_t i, std::int64_t e) const {  // sixteen elements of position i
    const Element* const at = values + i * size + e;
    fetch(at);
    if constexpr (kHasScales)
      return load(at) * splat(to_float(value_scales()[(i * size + e) / kKvBlock]));
    return load(at);
  }
  float key_of(std::int64_t i, std::int64_t e) const {
    const float element = to_float(keys[e * kLanes + i]);
    if constexpr (kHasScales) return element * to_float(key_scales()[e / kKvBlock * kLanes + i]);
    return element;
  }
  float value_of(std::int64_t i, std::int64_t e) const {
    const float element = to_float(values[i * size + e]);
    if constexpr (kHasScales) return element * to_float(value_scales()[(i * size + e) / kKvBlock]);
    return element;
  }
};

// Positions [begin, begin + count) of a tile, as one row sees them.
struct Slots {
  const Visibility* sees;
  std::int64_t begin, count;

  std::int64_t operator[](std::int64_t i) const {
    const std::int64_t at = begin + i;
    return at < sees->prefix ? at : sees->tail[at - sees->prefix];
  }
  std::int64_t page() const { return (*this)[0] / kPageTokens; }
  // What to ask for while this page is read: the prefix's page some tiles on, if there is one.
  std::int64_t page_ahead() const {
    const std::int64_t ahead = page() + kTilesAhead;
    return ahead * kPageTokens < sees->prefix ? ahead : page();
  }
};

template <class Element>
PageTile<Element> tile_of(const PagedKv& kv, std::int64_t kv_head, std::int64_t page,
                          std::int64_t page_ahead) {
  const std::int64_t scales = scale_bytes(kv.type, kv.head_size);
  const std::byte* const keys = part_of(kv, page, kv_head, Part::KEYS);
  const std::byte* const values = part_of(kv, page, kv_head, Part::VALUES);
  return {reinterpret_cast<const Element*>(keys + scales),
          reinterpret_cast<const Element*>(values + scales), kv.head_size,
          kv.pages[page_ahead] - kv.pages[page]};
}
template <class Element>
PageTile<Element> tile_of(const PagedKv& kv, std::int64_t kv_head, const Slots& slots) {
  return tile_of<Element>(kv, kv_head, slots.page(), slots.page_ahead());
}

// Converted, for many heads or from many pages.
struct FloatTile {
  float *keys, *values;  // [E, 16], [16, row]
  std::int64_t row;      // E rounded to 16

  Floats key(std::int64_t e) const { return load(keys + e * kLanes); }
  Floats value(std::int64_t i, std::int64_t e) const { return load(values + i * row + e); }
};

template <class Element>
void convert_value(const PageTile<Element>& from, std::int64_t slot, std::int64_t i,
                   const FloatTile& to) {
  float* const row = to.values + i * to.row;
  std::int64_t e = 0;
  for (; e + kLanes <= from.size; e += kLanes) store(row + e, from.value(slot, e));
  for (; e < from.size; ++e) row[e] = from.value_of(slot, e);
}

// Most of a tile's slots lie in one page, each at its own place; the others are fetched one by one.
template <class Element>
void convert_keys(const PagedKv& kv, std::int64_t kv_head, const Slots& slots,
                  const FloatTile& to) {
  const PageTile<Element> whole = tile_of<Element>(kv, kv_head, slots);
  for (std::int64_t e = 0; e < kv.head_size; ++e) store(to.keys + e * kLanes, whole.key(e));
  for (std::int64_t i = 0; i < slots.count; ++i) {
    const std::int64_t page = slots[i] / kPageTokens, in_page = slots[i] % kPageTokens;
    if (page == slots.page() && in_page == i) continue;
    const PageTile<Element> tile = tile_of<Element>(kv, kv_head, page, page);
    for (std::int64_t e = 0; e < kv.head_size; ++e)
      to.keys[e * kLanes + i] = tile.key_of(in_page, e);
  }
}

template <class Element>
void convert_values(const PagedKv& kv, std::int64_t kv_head, const Slots& slots,
                    const FloatTile& to) {
  const PageTile<Element> whole = tile_of<Element>(kv, kv_head, slots);
  for (std::int64_t i = 0; i < slots.count; ++i) {
    const std::int64_t page = slots[i] / kPageTokens;
    convert_value(page == slots.page() ? whole : tile_of<Element>(kv, kv_head, page, page),
                  slots[i] % kPageTokens, i, to);
  }
}

}  // namespace
}  // namespace redline::kernels
