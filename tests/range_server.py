# SPDX-License-Identifier: MIT
"""A web server for tests/test_fetch.sh: serves one folder on 127.0.0.1 and misbehaves on request.

Arguments: FOLDER PORTFILE LOGFILE. The first part of the path says how it behaves:
  good      as a server should, byte ranges included
  cut       the first answer for a file breaks off in the middle; later ones are good
  short     every answer breaks off after a quarter of what was asked for
  norange   byte ranges are not understood
  huge      claims a length of 10^15 bytes
  nolength  does not say a length
"""
import http.server
import os
import sys

folder, port_file, log_file = sys.argv[1:4]
cut_before = set()


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_HEAD(self):
        self.answer(body=False)

    def do_GET(self):
        self.answer(body=True)

    def answer(self, body):
        wanted = self.headers.get("Range", "")
        with open(log_file, "a") as log:
            log.write(f"{self.command} {self.path} {wanted}\n")
        _, mode, path = self.path.split("/", 2)
        try:
            with open(os.path.join(folder, path), "rb") as file:
                data = file.read()
        except OSError:
            self.send_error(404)
            return
        start = 0
        if wanted.startswith("bytes=") and mode != "norange":
            start = int(wanted[6:].split("-")[0])
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {start}-{len(data) - 1}/{len(data)}")
        else:
            self.send_response(200)
        data = data[start:]
        if mode != "nolength":
            self.send_header("Content-Length", str(10**15 if mode == "huge" else len(data)))
        self.send_header("ETag", f'"{len(data) + start}"')
        self.end_headers()
        if not body:
            return
        if mode == "short":
            data = data[: len(data) // 4]
        if mode == "cut" and path not in cut_before:
            cut_before.add(path)
            data = data[: len(data) // 2]
        self.wfile.write(data)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open(port_file + ".new", "w") as file:
    file.write(str(server.server_port))
os.rename(port_file + ".new", port_file)
server.serve_forever()
