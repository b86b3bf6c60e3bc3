/** One step of a Dockerfile. */
export interface Instruction {
  /** `COPY`, `RUN` and so on, in capitals. */
  readonly name: string
  /** Options before the arguments, without their dashes: `from`, `chown`. */
  readonly flags: Readonly<Record<string, string>>
  /** What follows, with continued lines joined. */
  readonly text: string
  /** The arguments where they are a JSON array (exec form); `undefined` where a shell would read them. */
  readonly exec: readonly string[] | undefined
  /** Of its first line, from 1. */
  readonly line: number
}

/** What stands from one `FROM` to the next. */
export interface Stage {
  /** Name after `AS`; the stage's number where there is none. */
  readonly name: string
  /** The image it begins with, as written. */
  readonly base: string
  /** All after `FROM`. */
  readonly steps: readonly Instruction[]
}

/** A Dockerfile that this reader does not understand. */
export class DockerfileError extends Error {
  override readonly name = 'DockerfileError'
}

/**
 * Reads the part of the Dockerfile language that this project uses: no parser directives, no here-documents, no `ARG`
 * before `FROM`.
 * @throws {DockerfileError} naming the line.
 */
export function readDockerfile(source: string): readonly Stage[] {
  const stages: { name: string; base: string; steps: Instruction[] }[] = []
  for (const instruction of readInstructions(source)) {
    if (instruction.name === 'FROM') {
      const [base = '', as, name] = instruction.text.split(/\s+/)
      if (as !== undefined && (as.toUpperCase() !== 'AS' || name === undefined)) {
        throw new DockerfileError(`line ${instruction.line}: expected FROM <image> AS <name>`)
      }
      stages.push({ name: name ?? String(stages.length), base, steps: [] })
    } else {
      const stage = stages.at(-1)
      if (stage === undefined) throw new DockerfileError(`line ${instruction.line}: nothing may stand before FROM`)
      stage.steps.push(instruction)
    }
  }
  if (stages.length === 0) throw new DockerfileError('there is no FROM')
  return stages
}

function readInstructions(source: string): Instruction[] {
  const instructions: Instruction[] = []
  const lines = source.split('\n')
  for (let at = 0; at < lines.length; at += 1) {
    const first = lines[at]?.trim() ?? ''
    if (first === '' || first.startsWith('#')) continue
    const line = at + 1
    let text = first
    while (text.endsWith('\\')) {
      at += 1
      text = `${text.slice(0, -1).trimEnd()} ${lines[at]?.trim() ?? ''}`
    }
    instructions.push(readInstruction(text, line))
  }
  return instructions
}

function readInstruction(whole: string, line: number): Instruction {
  const [, name = '', rest = ''] = /^([A-Za-z]+)\s+(.*)$/.exec(whole) ?? []
  if (name === '') throw new DockerfileError(`line ${line}: expected an instruction and its arguments`)
  const flags: Record<string, string> = {}
  let text = rest
  for (let flag = FLAG.exec(text); flag !== null; flag = FLAG.exec(text)) {
    flags[flag[1] ?? ''] = flag[2] ?? ''
    text = text.slice(flag[0].length)
  }
  // A health check's command has an instruction's shape of its own.
  const command = name.toUpperCase() === 'HEALTHCHECK' ? text.replace(/^CMD\s+/, '') : text
  return { name: name.toUpperCase(), flags, text, exec: execForm(command), line }
}

const FLAG = /^--([a-z-]+)=(\S+)\s+/

function execForm(text: string): readonly string[] | undefined {
  if (!text.startsWith('[')) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return Array.isArray(value) && value.every((part) => typeof part === 'string') ? value : undefined
  } catch {
    return undefined // Docker, too, gives it to a shell then
  }
}
