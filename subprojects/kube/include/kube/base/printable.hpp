// Foreign text, cut and made fit to be read by people.
#pragma once

#include <string>
#include <string_view>

namespace kube {

/// A character of UTF-8 text.
struct CodePoint {
  char32_t value = 0;
  std::size_t size = 1;  ///< bytes of the text; 1 if they are no UTF-8
  bool valid = false;
};

/// The first character of a text that is not empty.
CodePoint first_code_point(std::string_view text);

/// Whether all of the text is UTF-8, in its shortest form and without surrogates.
bool is_utf8(std::string_view text);

/// Whether a terminal or a page acts on the character, or hides it: controls, line separators, marks that turn the
/// direction of writing, and characters without width.
bool acts_on_terminals(char32_t point);
/// Whether the text has such a character, or is no UTF-8.
bool acts_on_terminals(std::string_view text);

/// The text, cut to at most `max` bytes without splitting a character of UTF-8.
std::string_view cut_text(std::string_view text, std::size_t max);

/// The text with a question mark for each byte and character that a terminal would act on or hide, so that what others
/// wrote neither moves the cursor nor forges a line. Line breaks and tabs become spaces.
std::string printable(std::string_view text);

/// The text on one line, cut as by cut_text(). Each run of spaces and of what printable() replaces becomes one space,
/// and none stands at an end.
std::string one_line(std::string_view text, std::size_t max);

/// The text as by printable(), in double quotes, cut after `max` bytes, because others choose how long their names and
/// values are. It is not called `quoted`, because argument-dependent lookup would find std::quoted.
std::string in_quotes(std::string_view text, std::size_t max = 100);

}  // namespace kube
