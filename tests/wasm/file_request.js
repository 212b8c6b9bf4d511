// file_request.js -- what HttpSource uses of XMLHttpRequest, over files: as a
// web server that knows Range requests would answer.
import {existsSync, readFileSync} from "node:fs";

export class FileRequest {
    #path; #range = null;

    open(method, url, async) {
        if (method !== "GET" || async)
            throw new Error("only GET, and only synchronous");
        this.#path = decodeURIComponent(url.replace(/\?\d+$/, ""));
    }

    setRequestHeader(name, value) {
        this.#range = name === "Range" && /^bytes=(\d+)-(\d+)$/.exec(value);
    }

    getResponseHeader() {
        return null;
    }

    send() {
        if (!existsSync(this.#path)) {
            this.status = 404;
            this.response = new ArrayBuffer(0);
            return;
        }
        const bytes = readFileSync(this.#path);
        const [first, last] = this.#range ? this.#range.slice(1).map(Number) : [0, bytes.length - 1];
        this.status = this.#range ? first < bytes.length ? 206 : 416 : 200;
        this.response = Uint8Array.from(bytes.subarray(first, last + 1)).buffer;
    }
}
