// What Vercel's AI SDK makes of messages of its interface: whether it takes them, and what a model gets.
//
// node ai_sdk.mjs PACKAGE < a JSON list of conversations > a JSON list of answers
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, name] = process.argv.slice(2);
const found = createRequire(pathToFileURL(`${folder}/`)).resolve(name);
const { convertToModelMessages, validateUIMessages } = await import(pathToFileURL(found));

const answers = [];
for (const messages of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    const taken = await validateUIMessages({ messages });
    answers.push({ taken, model: await convertToModelMessages(taken) });
  } catch (error) {
    answers.push({ error: String(error) });
  }
}
process.stdout.write(JSON.stringify(answers));
