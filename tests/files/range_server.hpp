// SPDX-License-Identifier: Apache-2.0
// An HTTP server on 127.0.0.1 for one content: serves ranges, or refuses to, and can cut a line.
#pragma once
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace redline::tests {

struct ServerSettings {
  bool ranges = true;
  std::size_t first_answer_bytes = std::string::npos;  // then the line is cut
};

class RangeServer {
 public:
  using Settings = ServerSettings;
  explicit RangeServer(std::string content, Settings settings = {})
      : content_(std::move(content)), settings_(settings) {
    listener_ = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ::bind(listener_, reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listener_, 8);
    ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
    url_ = "http://127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { serve(); });
  }
  RangeServer(const RangeServer&) = delete;  // its thread holds it
  ~RangeServer() {
    ::shutdown(listener_, SHUT_RDWR);
    thread_.join();
    ::close(listener_);
  }

  const std::string& url() const { return url_; }
  const std::vector<std::size_t>& starts() const { return starts_; }  // where each answer began

 private:
  void serve() {
    for (int line = 0; (line = ::accept(listener_, nullptr, nullptr)) >= 0; ::close(line))
      answer(line);
  }
  void answer(int line) {
    std::string request;
    char buffer[4096];
    while (request.find("\r\n\r\n") == std::string::npos) {
      const ssize_t got = ::read(line, buffer, sizeof buffer);
      if (got <= 0) return;
      request.append(buffer, static_cast<std::size_t>(got));
    }
    const std::size_t range = request.find("Range: bytes=");
    const bool partial = settings_.ranges && range != std::string::npos;
    const std::size_t start = partial ? std::strtoul(request.c_str() + range + 13, nullptr, 10) : 0;
    std::string body = content_.substr(start);
    std::string head = partial
                           ? "HTTP/1.1 206 Partial Content\r\nContent-Range: bytes " +
                                 std::to_string(start) + "-" + std::to_string(content_.size() - 1) +
                                 "/" + std::to_string(content_.size())
                           : "HTTP/1.1 200 OK";
    head += "\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n";
    if (starts_.empty()) body.resize(std::min(body.size(), settings_.first_answer_bytes));
    starts_.push_back(start);
    body.insert(0, head);
    for (std::size_t sent = 0; sent < body.size();) {
      const ssize_t wrote = ::send(line, body.data() + sent, body.size() - sent, MSG_NOSIGNAL);
      if (wrote <= 0) return;
      sent += static_cast<std::size_t>(wrote);
    }
  }

  std::string content_, url_;
  Settings settings_;
  int listener_ = -1;
  std::vector<std::size_t> starts_;
  std::thread thread_;
};

}  // namespace redline::tests
