// Written by `foreword init --for opencode`. Before a compaction it writes a checkpoint, after it brings back what holds
// and where the work stood, and it cuts huge results and leaves a handle. Whatever fails, opencode goes on.
import { spawn } from "node:child_process"

const FOREWORD = "foreword"
const brought = new Map() // what came back, by the id of the summary it stands behind
const LARGE = 16000 // characters of a result, below which nothing is asked

// What `foreword hook` answers to an event; nothing where it has nothing to say.
const ask = (directory, event, seconds) =>
  new Promise((resolve) => {
    const child = spawn(FOREWORD, ["hook", "--timeout", String(seconds)], {
      cwd: directory,
      stdio: ["pipe", "pipe", "ignore"],
    })
    const pieces = []
    child.on("error", () => resolve({}))
    child.stdin.on("error", () => {})
    child.stdout.on("data", (piece) => pieces.push(piece))
    child.on("close", () => {
      try {
        resolve(JSON.parse(Buffer.concat(pieces).toString()).hookSpecificOutput ?? {})
      } catch {
        resolve({})
      }
    })
    child.stdin.end(JSON.stringify({ cwd: directory, agent: "opencode", ...event }))
  })

export const Foreword = async ({ client, directory }) => ({
  "experimental.session.compacting": async ({ sessionID }) => {
    try {
      const found = await client.session.messages({ path: { id: sessionID } })
      const transcript = { info: { id: sessionID, directory }, messages: found.data ?? [] }
      await ask(directory, { hook_event_name: "PreCompact", session_id: sessionID, transcript }, 20)
    } catch {}
  },
  // Behind the newest summary stands what Foreword brings back, the same text in every request.
  "experimental.chat.messages.transform": async (_, output) => {
    try {
      const at = output.messages.findLastIndex((one) => one.info.role === "assistant" && one.info.summary === true)
      const next = at < 0 ? undefined : output.messages.slice(at + 1).find((one) => one.info.role === "user")
      if (!next) return
      const { id, sessionID } = output.messages[at].info
      if (!brought.has(id)) {
        const summary = output.messages[at].parts.map((part) => part.text ?? "").join("\n")
        const event = { hook_event_name: "SessionStart", source: "compact", session_id: sessionID, summary }
        brought.set(id, (await ask(directory, event, 9)).additionalContext ?? "")
      }
      const text = brought.get(id)
      if (!text) return
      next.parts.push({ id: `prt_foreword_${id}`, sessionID, messageID: next.info.id, type: "text", text, synthetic: true })
    } catch {}
  },
  "tool.execute.after": async ({ tool, sessionID, args }, result) => {
    if (tool !== "bash" || typeof result.output !== "string" || result.output.length < LARGE) return
    const event = {
      hook_event_name: "PostToolUse",
      session_id: sessionID,
      tool_name: "Bash",
      tool_input: args ?? {},
      tool_response: { stdout: result.output },
    }
    const answer = await ask(directory, event, 9)
    if (answer.updatedToolOutput?.stdout) result.output = answer.updatedToolOutput.stdout
  },
})
