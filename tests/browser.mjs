// SPDX-License-Identifier: MIT
// Opens pages in a headless Chromium and tells what is wrong with them: messages on the console, requests that leave the
// page, and anything wider than the window, at 360 and 1280 pixels, light and dark, and printed.
//     node tests/browser.mjs CHROMIUM PAGE.html... [--screenshots FOLDER]
// One line for each problem; nothing when all is well. The browser is spoken to through two pipes (--remote-debugging-pipe),
// so that neither a port nor a library is needed.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const words = process.argv.slice(2);
const at = words.indexOf('--screenshots');
const screenshots = at < 0 ? null : words.splice(at, 2)[1];
const [program, ...pages] = words;

// ---- The browser ----

const profile = mkdtempSync(join(tmpdir(), 'agb_browser_'));
const browser = spawn(program, ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
    '--no-first-run', '--hide-scrollbars', '--remote-debugging-pipe', `--user-data-dir=${profile}`, 'about:blank'],
{ stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'] });
const [, , , to, from] = browser.stdio;
const waiting = new Map(), problems = [];
let id = 0, rest = '', page = '', ended = false;

function fail(reason) {
    console.log(`the browser gave no answer: ${reason}`);
    browser.kill('SIGKILL');
    process.exitCode = 1;
}

const patience = setTimeout(() => fail('not within 90 s'), 90000);
browser.on('error', error => fail(error.message));
browser.on('exit', code => {
    clearTimeout(patience);
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    if (!ended)
        fail(`it ended with ${code}`);
});

// Events that mean that a page is not as it should be.
const complaints = {
    'Runtime.consoleAPICalled': event => `console: ${event.args.map(arg => arg.value ?? arg.description).join(' ')}`,
    'Runtime.exceptionThrown': event => `exception: ${event.exceptionDetails.text}`,
    'Log.entryAdded': event => `log: ${event.entry.text}`,
    'Network.requestWillBeSent': event => /^(file|data):/.test(event.request.url) ? null
        : `asks the network for ${event.request.url}`,
};

from.on('data', bytes => {
    rest += bytes;
    const messages = rest.split('\0');
    rest = messages.pop();
    for (const message of messages.map(JSON.parse)) {
        const complaint = complaints[message.method]?.(message.params);
        if (complaint)
            problems.push(`${page}: ${complaint}`);
        const answer = waiting.get(message.id ?? message.method);
        waiting.delete(message.id ?? message.method);
        if (message.error)
            answer?.reject(new Error(message.error.message));
        else
            answer?.resolve(message.result ?? message.params);
    }
});
to.on('error', () => {});

const answerTo = key => new Promise((resolve, reject) => waiting.set(key, { resolve, reject }));
let session;
function ask(method, params = {}) {
    const message = { id: ++id, method, params, ...(session ? { sessionId: session } : {}) };
    to.write(JSON.stringify(message) + '\0');
    return answerTo(id);
}

// ---- The checks ----

// What sticks out of the window, and text of a picture that sticks out of it or stands on other text.
const findOverflow = `(() => {
    const found = [], width = document.documentElement.clientWidth;
    if (document.documentElement.scrollWidth > width)
        found.push('the page is ' + document.documentElement.scrollWidth + ' px wide');
    const scrolls = node => node.closest('.table, pre');
    for (const node of document.querySelectorAll('body *')) {
        const box = node.getBoundingClientRect();
        if (box.width > 0 && (box.right > width + 1 || box.left < -1) && !scrolls(node))
            found.push('<' + node.tagName + '> reaches from ' + box.left + ' to ' + box.right + ': ' +
                       node.textContent.slice(0, 60));
    }
    for (const picture of document.querySelectorAll('svg[role=img]')) {
        const texts = [...picture.querySelectorAll('text')].map(node => ({ node, box: node.getBoundingClientRect() }))
            .filter(({ box }) => box.width > 0);
        texts.forEach(({ node, box }, i) => {
            for (const other of texts.slice(i + 1))
                if (box.left + 1 < other.box.right && other.box.left + 1 < box.right &&
                    box.top + 4 < other.box.bottom && other.box.top + 4 < box.bottom)
                    found.push('"' + node.textContent + '" stands on "' + other.node.textContent + '"');
        });
    }
    return found.slice(0, 8);
})()`;

const SLICE = 1500;    // of a screenshot: what can still be looked at in one piece

async function look(path, width, scheme, media = 'screen') {
    page = `${basename(path)} at ${width} px, ${scheme}${media === 'print' ? ', printed' : ''}`;
    await ask('Emulation.setDeviceMetricsOverride', { width, height: 900, deviceScaleFactor: 1, mobile: width < 500 });
    await ask('Emulation.setEmulatedMedia', { media, features: [{ name: 'prefers-color-scheme', value: scheme }] });
    const loaded = answerTo('Page.loadEventFired');
    await ask('Page.navigate', { url: pathToFileURL(resolve(path)).href });
    await loaded;
    const { result } = await ask('Runtime.evaluate', { expression: findOverflow, returnByValue: true });
    for (const problem of result.value ?? ['cannot be looked at'])
        problems.push(`${page}: ${problem}`);
    if (!screenshots)
        return;
    const { cssContentSize } = await ask('Page.getLayoutMetrics'), height = Math.ceil(cssContentSize.height);
    await ask('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: width < 500 });
    for (let y = 0, part = 1; y < height; y += SLICE, part++) {
        const clip = { x: 0, y, width, height: Math.min(SLICE, height - y), scale: 1 };
        const { data } = await ask('Page.captureScreenshot', { format: 'png', captureBeyondViewport: true, clip });
        const name = `${basename(path, '.html')}-${width}-${scheme}-${media}-${part}.png`;
        writeFileSync(join(screenshots, name), data, 'base64');
    }
}

try {
    const { targetId } = await ask('Target.createTarget', { url: 'about:blank' });
    session = (await ask('Target.attachToTarget', { targetId, flatten: true })).sessionId;
    for (const domain of ['Page', 'Runtime', 'Log', 'Network'])
        await ask(`${domain}.enable`);
    for (const path of pages) {
        for (const width of [360, 1280])
            for (const scheme of ['light', 'dark'])
                await look(path, width, scheme);
        await look(path, 720, 'light', 'print');
    }
} catch (error) {
    problems.push(`${page}: ${error.message}`);
}
for (const problem of problems)
    console.log(problem);
process.exitCode = problems.length > 0 ? 1 : 0;
ended = true;
session = undefined;
await Promise.race([ask('Browser.close').catch(() => {}), new Promise(done => browser.on('exit', done))]);
