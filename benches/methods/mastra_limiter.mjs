// Mastra's TokenLimiterProcessor with its defaults: it keeps the newest messages that fit, and may leave a gap for one that does
// not (trimMode "best-fit"). It counts by its own estimate, which takes no other.
import { createServer } from 'node:http'
import { rmSync } from 'node:fs'
import { TripWire } from '@mastra/core/agent'
import { TokenLimiterProcessor } from '@mastra/core/processors'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'

// The prompt that a Mastra processor gets: a model's prompt of the AI SDK.
function toPrompt(messages) {
  const names = new Map(messages.flatMap(message => message.tool_calls ?? []).map(call => [call.id, call.function.name]))
  return messages.map(message => {
    if (message.role === 'system') return { role: 'system', content: message.content }
    const text = message.content ? [{ type: 'text', text: message.content }] : []
    if (message.role === 'tool') {
      const toolName = names.get(message.tool_call_id)
      const output = { type: 'text', value: message.content }
      return { role: 'tool', content: [{ type: 'tool-result', toolCallId: message.tool_call_id, toolName, output }] }
    }
    const calls = (message.tool_calls ?? []).map(({ id, function: { name, arguments: input } }) =>
      ({ type: 'tool-call', toolCallId: id, toolName: name, input: JSON.parse(input) }))
    return { role: message.role, content: [...text, ...calls] }
  })
}

// As in adapter.py: what stands before the model's message where that would be the first, the count of the bench, and how often a
// lower limit is tried where what is kept is over the budget by it.
const LEAD = { role: 'user', content: '(Earlier messages are left out.)' }
const TRIES = 5

const counted = new Map()
function countText(text) {
  if (!counted.has(text)) counted.set(text, countTokens(text, { allowedSpecial: new Set(), disallowedSpecial: new Set() }))
  return counted.get(text)
}

function countMessage({ content, tool_call_id, tool_calls }) {
  const parts = (tool_calls ?? []).flatMap(call => [call.id, call.function.name, call.function.arguments])
  return 4 + [content ?? '', tool_call_id ?? '', ...parts].reduce((sum, part) => sum + countText(part), 0)
}

const countMessages = messages => messages.reduce((sum, message) => sum + countMessage(message), 0)

async function trim(messages, limit) {
  const prompt = toPrompt(messages)
  const trimmed = await new TokenLimiterProcessor({ limit }).processLLMRequest({ prompt })
  // Nothing comes back where all fits.
  const kept = new Set(trimmed?.prompt ?? prompt)
  return messages.filter((_, place) => kept.has(prompt[place]))
}

async function answer(request) {
  const { messages, budget_tokens } = JSON.parse(request)
  const budget = budget_tokens - countMessage(LEAD)
  let limit = budget
  let kept = await trim(messages, limit)
  let least = kept
  for (let tried = 0; tried < TRIES && countMessages(least) > budget; tried++) {
    limit = Math.floor(limit * budget / countMessages(kept))
    try {
      kept = await trim(messages, limit)
    } catch (error) {
      // It refuses a limit that no message fits.
      if (error instanceof TripWire) break
      throw error
    }
    if (countMessages(kept) < countMessages(least)) least = kept
  }
  const begin = least.findIndex(message => message.role !== 'system')
  if (least[begin]?.role !== 'user') least.splice(begin, 0, LEAD)
  return JSON.stringify({ messages: least })
}

async function readAll(stream) {
  const chunks = []
  for await (const chunk of stream) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

const [option, socket] = process.argv.slice(2)
if (option === '--listen' && socket) {
  rmSync(socket, { force: true })
  createServer(async (request, response) => {
    try {
      response.end(await answer(await readAll(request)))
    } catch (error) {
      // The one who asked gets it, as an exit status that is not zero.
      process.stderr.write(`${error}\n`)
      response.writeHead(500).end(`${error}\n`)
    }
  }).listen(socket)
} else if (option) {
  process.stderr.write('usage: mastra_limiter.mjs [--listen SOCKET]\n')
  process.exitCode = 2
} else {
  process.stdout.write(await answer(await readAll(process.stdin)))
}
