/**
 * Runs a program with memory: what was tried once at a place of the text and failed is not tried there again. So a run
 * costs at most (length of the program) x (length of the text) steps, whatever the expression, and finds the match
 * that ordinary backtracking would find. That needs expressions without back-references, which `regex-program` ensures.
 */
import type { Program, RegexProgram } from './regex-program.ts'

/**
 * Matches from the start of the text.
 * @returns for group `n` its start at `2n` and its end at `2n + 1`, -1 where it took no part; `undefined`: no match.
 */
export function runProgram({ program, slots }: RegexProgram, text: string): Int32Array | undefined {
  const saved = new Int32Array(slots).fill(-1)
  return run(program, text, 0, saved, new Map()) ? saved : undefined
}

type Memory = Map<Program, Uint32Array>

function run(program: Program, text: string, start: number, saved: Int32Array, memory: Memory): boolean {
  const width = text.length + 1
  const tried = memoryOf(memory, program, width)
  // What is left to try: (step, position), or (-1 - slot, former value) to undo a save when going back past it.
  const pending: number[] = [0, start]

  while (pending.length > 0) {
    const position = pending.pop() ?? 0
    const at = pending.pop() ?? 0
    if (at < 0) saved[-1 - at] = position
    else if (follow(at, position)) return true
  }
  return false

  function follow(at: number, position: number): boolean {
    for (;;) {
      const state = at * width + position
      const word = state >>> 5
      const bit = 1 << (state & 31)
      const before = tried[word] ?? 0
      if ((before & bit) !== 0) return false
      tried[word] = before | bit

      const instruction = program[at]
      if (instruction === undefined || instruction.op === 'match') return true
      switch (instruction.op) {
        case 'unit':
          if (position >= text.length || !instruction.accepts(text.charCodeAt(position))) return false
          at += 1
          position += 1
          break
        case 'split':
          pending.push(instruction.second, position)
          at = instruction.first
          break
        case 'jump':
          at = instruction.to
          break
        case 'save':
          pending.push(-1 - instruction.slot, saved[instruction.slot] ?? -1)
          saved[instruction.slot] = position
          at += 1
          break
        case 'look':
          if (looksLike(instruction.program, position) === instruction.negated) return false
          at += 1
          break
        case 'assert':
          if (!instruction.holds(text, position)) return false
          at += 1
      }
    }
  }

  function looksLike(ahead: Program, position: number): boolean {
    const found = run(ahead, text, position, saved, memory)
    // Failures stay known; after a success the trail holds steps that did not fail, so it is forgotten.
    if (found) memory.get(ahead)?.fill(0)
    return found
  }
}

function memoryOf(memory: Memory, program: Program, width: number): Uint32Array {
  let tried = memory.get(program)
  if (tried === undefined) memory.set(program, (tried = new Uint32Array((program.length * width + 31) >>> 5)))
  return tried
}
