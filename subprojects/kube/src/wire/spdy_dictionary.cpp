#include "spdy_dictionary.hpp"

#include <algorithm>
#include <string_view>

#include "big_endian.hpp"
#include "kube/base/text.hpp"

namespace kube::wire {
namespace {

// The dictionary's words: each enters it with its length in four bytes. "200 OK" is the only one with a space.
constexpr std::string_view words =
    "options head post put delete trace accept accept-charset accept-encoding accept-language accept-ranges age allow "
    "authorization cache-control connection content-base content-encoding content-language content-length "
    "content-location content-md5 content-range content-type date etag expect expires from host if-match "
    "if-modified-since if-none-match if-range if-unmodified-since last-modified location max-forwards pragma "
    "proxy-authenticate proxy-authorization range referer retry-after server te trailer transfer-encoding upgrade "
    "user-agent vary via warning www-authenticate method get status 200_OK version HTTP/1.1 url public set-cookie "
    "keep-alive origin ";
// What follows the words, without lengths.
constexpr std::string_view tail =
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505203 Non-Authoritative "
    "Information204 No Content301 Moved Permanently400 Bad Request401 Unauthorized403 Forbidden404 Not Found500 "
    "Internal Server Error501 Not Implemented503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec "
    "00:00:00 Mon, Tue, Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,application/xml,"
    "application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,deflate,sdchcharset=utf-8charset="
    "iso-8859-1,utf-,*,enq=0.";

std::string make_dictionary() {
  std::string dictionary;
  for (const std::string_view each : split(words, ' ')) {
    std::string word(each);
    std::replace(word.begin(), word.end(), '_', ' ');
    put_u32(dictionary, static_cast<std::uint32_t>(word.size()));
    dictionary += word;
  }
  dictionary += tail;
  return dictionary;
}

}  // namespace

const std::string& spdy_dictionary() {
  static const std::string dictionary = make_dictionary();
  return dictionary;
}

}  // namespace kube::wire
