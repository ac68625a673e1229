"""Opens a report in Chromium and says what it sees, as JSON: page.py BROWSER REPORT.html [FOLDER FOR PICTURES]

Speaks the DevTools protocol over a pipe: messages end with a NUL byte; the browser reads from 3 and writes to 4.
"""

import base64
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

VIEWS = [("light", 1280, 900), ("dark", 1280, 900), ("light", 390, 800)]
PIECE = 1700
LOOK = """(async () => {
  // Handed out, and not written to anybody's downloads.
  let table;
  URL.createObjectURL = (blob) => { table = blob; return "blob:"; };
  HTMLAnchorElement.prototype.click = () => {};
  document.querySelector("[data-csv]").click();
  const csv = await table.text();
  const plots = [...document.querySelectorAll(".plot")];
  const first = document.querySelector(".plot .ytick text, .plot .xtick text");
  const last = document.querySelector("details tr[id^='cell-']");
  const heading = document.querySelector(".matrix th.number");
  heading.click();
  const column = heading.cellIndex;
  const values = [...heading.closest("table").tBodies[0].rows].map((row) => parseFloat(row.cells[column].dataset.value)).filter((value) => !isNaN(value));
  location.hash = last.id;
  return {
    plots: plots.length,
    drawn: plots.filter((plot) => plot.classList.contains("js-plotly-plot") && plot.querySelector(".main-svg")).length,
    ink: getComputedStyle(first).fill,
    csv: csv.split("\\r\\n").slice(0, 2),
    broken: "broken" in window,
    overflow: Math.max(0, document.documentElement.scrollWidth - window.innerWidth),
    sorted: values.every((value, n) => n === 0 || values[n - 1] >= value),
  };
})()"""


class Browser:
    def __init__(self, program, home):
        ours, theirs = os.pipe(), os.pipe()

        def pipes():
            # Copies first: one of the four may be 3 or 4 itself.
            reading, writing = os.dup(ours[0]), os.dup(theirs[1])
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        arguments = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-extensions", "--no-first-run",
                     "--disable-background-networking", "--hide-scrollbars", "--remote-debugging-pipe", f"--user-data-dir={home}", "about:blank"]
        self.process = subprocess.Popen([program, *arguments], preexec_fn=pipes, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.to, self.of = ours[1], theirs[0]
        os.close(ours[0])
        os.close(theirs[1])
        self.rest, self.number, self.events = b"", 0, []

    def read(self):
        while b"\0" not in self.rest:
            more = os.read(self.of, 1 << 20)
            if not more:
                sys.exit("the browser ended")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        while True:
            answer = self.read()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)


def evaluate(browser, session, expression):
    result = browser.call("Runtime.evaluate", session, expression=expression, returnByValue=True, awaitPromise=True)
    if "exceptionDetails" in result:
        sys.exit(f"{expression}: {result['exceptionDetails']}")
    return result["result"].get("value")


def view(browser, page, theme, width, height, pictures):
    target = browser.call("Target.createTarget", url="about:blank")["targetId"]
    session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    for domain in ["Page", "Runtime", "Network", "Log"]:
        browser.call(f"{domain}.enable", session)
    browser.call("Emulation.setEmulatedMedia", session, features=[{"name": "prefers-color-scheme", "value": theme}])
    browser.call("Emulation.setDeviceMetricsOverride", session, width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
    browser.events.clear()
    browser.call("Page.navigate", session, url=page.as_uri())
    end = time.monotonic() + 30
    while evaluate(browser, session, "document.documentElement?.dataset.figures") != "drawn" and time.monotonic() < end:
        time.sleep(0.1)
    if pictures:
        size = browser.call("Page.getLayoutMetrics", session)["cssContentSize"]
        # In pieces that can be looked at.
        for number, top in enumerate(range(0, int(size["height"]), PIECE)):
            clip = {"x": 0, "y": top, "width": width, "height": min(PIECE, size["height"] - top), "scale": 1}
            picture = browser.call("Page.captureScreenshot", session, clip=clip, captureBeyondViewport=True)["data"]
            Path(pictures, f"report-{theme}-{width}-{number:02}.png").write_bytes(base64.b64decode(picture))
    seen = evaluate(browser, session, LOOK)
    time.sleep(0.2)
    seen["revealed"] = evaluate(browser, session, "document.querySelector(location.hash).getClientRects().length > 0")
    errors, requests = [], []
    for event in browser.events:
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            errors.append(parameters["exceptionDetails"].get("exception", parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning", "assert"):
            errors.append([argument.get("value", argument.get("description")) for argument in parameters["args"]])
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
            errors.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            url = parameters["request"]["url"]
            if not url.startswith(("data:", "blob:")) and url.split("#")[0] != page.as_uri():
                requests.append(url)
    browser.call("Target.closeTarget", targetId=target)
    return {"theme": theme, "width": width, "errors": errors, "requests": requests, **seen}


def main():
    program, page, *pictures = sys.argv[1:]
    # The last files of the browser's children may come while the folder goes.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        browser = Browser(program, home)
        try:
            if pictures:
                Path(pictures[0], "report.html").write_bytes(Path(page).read_bytes())
            views = [view(browser, Path(page).resolve(), *one, pictures[0] if pictures else None) for one in VIEWS]
            print(json.dumps(views))
            browser.call("Browser.close")
        finally:
            try:
                browser.process.wait(5)
            except subprocess.TimeoutExpired:
                browser.process.kill()
                browser.process.wait()


main()
