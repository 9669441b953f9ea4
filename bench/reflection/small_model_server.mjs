// A GGUF file behind POST /v1/chat/completions, for small_model.py: `npm install node-llama-cpp` brings prebuilt llama.cpp.
//
//     node small_model_server.mjs MODEL.gguf [PORT] [THREADS]
//
// Loopback only, one question at a time, no streaming. response_format json_schema and json_object are enforced by grammar, as llama.cpp's
// own server does. Whoever hangs up ends the work on the question.
import {createServer} from "node:http";
import {getLlama, LlamaChatSession} from "node-llama-cpp";

const [path, port = "8123", threads = "2"] = process.argv.slice(2);
const CONTEXT = 8192;
const llama = await getLlama({gpu: false, build: "never", maxThreads: Number(threads)});
const model = await llama.loadModel({modelPath: path});
const context = await model.createContext({contextSize: CONTEXT, threads: Number(threads)});
const sequence = context.getSequence();
let turn = Promise.resolve();

const refusal = (message) => Object.assign(new Error(message), {status: 400});

async function grammarOf(format) {
    if (format === undefined || format.type === "text") return undefined;
    if (format.type === "json_object") return await llama.getGrammarFor("json");
    if (format.type === "json_schema") return await llama.createGrammarForJsonSchema(format.json_schema.schema);
    throw refusal(`response_format ${format.type} is not known`);
}

async function answer(body, signal) {
    const messages = [...body.messages];
    const question = messages.pop();
    if (question?.role !== "user") throw refusal("the last message must be the user's");
    const history = messages.map(({role, content}) => (role === "assistant" ? {type: "model", response: [content]} : {type: role, text: content}));
    const grammar = await grammarOf(body.response_format);
    const before = sequence.tokenMeter.getState();
    const session = new LlamaChatSession({contextSequence: sequence, systemPrompt: undefined});
    try {
        session.setChatHistory(history);
        const {responseText, stopReason} = await session.promptWithMeta(question.content, {
            grammar, signal, stopOnAbortSignal: true, maxTokens: body.max_tokens, temperature: body.temperature ?? 0
        });
        const used = sequence.tokenMeter.diff(before);
        const prompt = model.tokenize(body.messages.map(({content}) => content).join("\n")).length;
        return {
            id: `chatcmpl-${Date.now()}`, object: "chat.completion", created: Math.floor(Date.now() / 1000), model: body.model,
            choices: [{index: 0, finish_reason: stopReason === "maxTokens" ? "length" : "stop", message: {role: "assistant", content: responseText}}],
            usage: {prompt_tokens: prompt, completion_tokens: used.usedOutputTokens, total_tokens: prompt + used.usedOutputTokens}
        };
    } finally {
        session.dispose({disposeSequence: false});
    }
}

const read = async (request) => {
    const parts = [];
    for await (const part of request) parts.push(part);
    return JSON.parse(Buffer.concat(parts).toString("utf8"));
};

const tell = (response, status, body) => {
    response.writeHead(status, {"content-type": "application/json"});
    response.end(JSON.stringify(body));
};

const server = createServer(async (request, response) => {
    if (request.method === "GET" && request.url === "/v1/models") return tell(response, 200, {object: "list", data: [{id: path, object: "model"}]});
    if (request.method !== "POST" || request.url !== "/v1/chat/completions") return tell(response, 404, {error: {message: "no such path"}});
    const gone = new AbortController();
    response.on("close", () => response.writableEnded || gone.abort());
    try {
        const body = await read(request);
        const mine = turn.then(() => (gone.signal.aborted ? undefined : answer(body, gone.signal)));
        turn = mine.catch(() => undefined);
        const told = await mine;
        if (told !== undefined && !gone.signal.aborted) tell(response, 200, told);
    } catch (error) {
        if (!gone.signal.aborted) tell(response, error.status ?? 500, {error: {message: String(error.message), type: "server_error"}});
    }
});
server.listen(Number(port), "127.0.0.1", () => console.log(`ready: http://127.0.0.1:${port}/v1`));
