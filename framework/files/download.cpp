// SPDX-License-Identifier: Apache-2.0
#include "files/download.hpp"

#include <curl/curl.h>

#include <cstdio>
#include <memory>

#include "redline/error.hpp"

namespace redline::files {
namespace {

constexpr long kConnectSeconds = 5;  // where there is no network, the next source is asked soon
constexpr long kStallSeconds = 30;

struct Transfer {
  const Progress& progress;
  std::uint64_t had_bytes;
};

int on_progress(void* context, curl_off_t, curl_off_t now, curl_off_t, curl_off_t) {
  const auto& transfer = *static_cast<Transfer*>(context);
  if (transfer.progress) transfer.progress(transfer.had_bytes + static_cast<std::uint64_t>(now));
  return 0;
}

CURLcode attempt(const std::string& url, std::FILE* out, Transfer transfer) {
  const std::unique_ptr<CURL, void (*)(CURL*)> handle(curl_easy_init(), curl_easy_cleanup);
  if (!handle) return CURLE_FAILED_INIT;
  const auto set = [&](CURLoption option, auto value) {
    curl_easy_setopt(handle.get(), option, value);
  };
  set(CURLOPT_URL, url.c_str());
  set(CURLOPT_PROTOCOLS_STR, "http,https,file");
  set(CURLOPT_FOLLOWLOCATION, 1L);
  set(CURLOPT_FAILONERROR, 1L);
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_USERAGENT, "redline");
  set(CURLOPT_CONNECTTIMEOUT, kConnectSeconds);
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(CURLOPT_LOW_SPEED_TIME, kStallSeconds);
  set(CURLOPT_RESUME_FROM_LARGE, static_cast<curl_off_t>(transfer.had_bytes));
  set(CURLOPT_WRITEDATA, out);
  set(CURLOPT_NOPROGRESS, 0L);
  set(CURLOPT_XFERINFOFUNCTION, on_progress);
  set(CURLOPT_XFERINFODATA, &transfer);
  return curl_easy_perform(handle.get());
}

std::uint64_t size_of(const std::filesystem::path& path) {
  std::error_code missing;
  const auto size = std::filesystem::file_size(path, missing);
  return missing ? 0 : size;
}

}  // namespace

void download(const std::string& url, const std::filesystem::path& partial,
              std::uint64_t expected_bytes, const Progress& progress) {
  while (true) {
    const std::uint64_t had = size_of(partial);
    if (had >= expected_bytes) return;  // the caller checks what it is
    CURLcode result = CURLE_OK;
    {
      const std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(partial.c_str(), "ab"),
                                                                std::fclose);
      if (!out) throw InputError(partial.string() + ": cannot be written; check the cache folder");
      result = attempt(url, out.get(), {progress, had});
    }
    const std::uint64_t has = size_of(partial);
    if (result == CURLE_OK) return;
    const bool cannot_resume = had > 0 && result == CURLE_RANGE_ERROR;
    if (cannot_resume) std::filesystem::remove(partial);  // and begin again
    if (!cannot_resume && has <= had)                     // a cut line that brought bytes may go on
      throw DeviceError(url + ": " + curl_easy_strerror(result));
  }
}

}  // namespace redline::files
