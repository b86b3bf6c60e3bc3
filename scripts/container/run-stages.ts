import { chmodSync, chownSync, cpSync, lstatSync, mkdirSync, readdirSync, rmdirSync, statSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { runCommand } from '../checks/run-command.ts'
import { DockerfileError, type Instruction, type Stage } from './dockerfile.ts'
import type { IgnoreList } from './ignore-list.ts'

/** What a Dockerfile says of how its image is run. */
export interface ImageConfig {
  readonly env: Readonly<Record<string, string>>
  /** Absolute path in the image. */
  readonly workdir: string
  /** `<uid>:<gid>`; empty for root. */
  readonly user: string
  /** Absolute paths in the image at which storage of its own is mounted. */
  readonly volumes: readonly string[]
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  /** Without its options. */
  readonly healthCheck: readonly string[]
}

/** A built image: a folder, and how it is run. */
export interface BuiltImage {
  /** Absolute path of its file system. */
  readonly root: string
  readonly config: ImageConfig
}

/** Where a build happens. */
export interface StageOptions {
  /** Absolute path of the sources. */
  readonly context: string
  /** What does not go into the build. */
  readonly ignored: IgnoreList
  /** Absolute path of an empty folder; each stage gets one below it. */
  readonly work: string
  /** Told of every step before it is done. */
  readonly onStep: (line: string) => void
}

/** A step of the Dockerfile that has failed; carries what it printed. */
export class StepError extends Error {
  override readonly name = 'StepError'
}

/** Installing packages of the system is for the engine: what they bring must be on this machine already. */
const SYSTEM_STEP = /^apt-get\b/
const STEP_LIMIT_MS = 600_000 // a step that is still at it has hung

/**
 * Executes the steps of a Dockerfile without an engine: a folder stands for the file system of a stage, and this machine
 * for the image that a stage begins with. `RUN` gets the stage's `WORKDIR` as its working directory, so it must keep to
 * relative paths.
 * @throws {DockerfileError} for a step that this cannot do.
 * @throws {StepError} for a command that fails.
 */
export async function runStages(stages: readonly Stage[], options: StageOptions): Promise<BuiltImage> {
  let image: BuiltImage | undefined
  for (const stage of stages) image = await runStage(stage, options)
  if (image === undefined) throw new DockerfileError('there is no stage')
  return image
}

async function runStage(stage: Stage, options: StageOptions): Promise<BuiltImage> {
  const root = join(options.work, stage.name)
  const config = { env: {} as Record<string, string>, workdir: '/', user: '', volumes: [] as string[] }
  const exec: Record<'ENTRYPOINT' | 'CMD' | 'HEALTHCHECK', readonly string[]> = {
    ENTRYPOINT: [],
    CMD: [],
    HEALTHCHECK: [],
  }
  mkdirSync(root, { recursive: true })
  for (const step of stage.steps) {
    const { name, text } = step
    options.onStep(`${stage.name}: ${name} ${text}`)
    if (name === 'COPY') copy(step, root, config.workdir, options)
    else if (name === 'RUN') await run(step, join(root, config.workdir), config.env)
    else if (name === 'ENV') config.env[text.split('=', 1)[0] ?? ''] = text.slice(text.indexOf('=') + 1)
    else if (name === 'WORKDIR') mkdirSync(join(root, (config.workdir = text)), { recursive: true })
    else if (name === 'USER') config.user = text
    else if (name === 'VOLUME') config.volumes.push(text)
    else if (name in exec) exec[name as keyof typeof exec] = execForm(step)
    else if (!['EXPOSE', 'STOPSIGNAL', 'LABEL'].includes(name)) throw unknown(step)
  }
  const { ENTRYPOINT: entrypoint, CMD: command, HEALTHCHECK: healthCheck } = exec
  return { root, config: { ...config, entrypoint, command, healthCheck } }
}

function unknown({ name, line }: Instruction): DockerfileError {
  return new DockerfileError(`line ${line}: ${name} cannot be done without an engine`)
}

function execForm(step: Instruction): readonly string[] {
  if (step.exec === undefined) throw new DockerfileError(`line ${step.line}: ${step.name} has to be in exec form`)
  return step.exec
}

async function run({ text }: Instruction, cwd: string, env: Readonly<Record<string, string>>): Promise<void> {
  if (SYSTEM_STEP.test(text)) return
  // NODE_ENV of the caller would decide what npm installs.
  const { code, output } = await runCommand('sh', ['-c', text], {
    cwd,
    env: { NODE_ENV: '', ...env },
    output: 'collect',
    timeoutMs: STEP_LIMIT_MS,
  })
  if (code !== 0) throw new StepError(`RUN ${text}\nended with code ${code}:\n${output}`)
}

function copy(step: Instruction, root: string, workdir: string, { context, ignored, work }: StageOptions): void {
  const { from, chown } = step.flags
  const parts = step.text.split(/\s+/)
  const target = parts.pop() ?? ''
  const to = join(root, target.startsWith('/') ? target : join(workdir, target))
  const intoFolder = target.endsWith('/') || parts.length > 1 || target === '.'
  for (const source of parts) {
    const path = from === undefined ? join(context, source) : join(work, from, source)
    const isFolder = statSync(path).isDirectory()
    // The content of a folder is copied, not the folder.
    const place = isFolder || !intoFolder ? to : join(to, basename(source))
    mkdirSync(isFolder ? place : dirname(place), { recursive: true })
    cpSync(path, place, {
      recursive: true,
      verbatimSymlinks: true,
      filter: (file) => from !== undefined || takes(relative(context, file), file, ignored),
    })
    if (from === undefined && isFolder) dropEmpty(path, place, context, ignored)
    keepModes(path, place)
    if (chown !== undefined) giveTo(place, chown)
  }
}

/** A folder that is left out may hold a file that is taken back, so folders are always looked into. */
function takes(path: string, file: string, ignored: IgnoreList): boolean {
  if (path === '' || !ignored(path)) return true
  return lstatSync(file).isDirectory() && !/(?:^|\/)(?:node_modules|\.git|dist)$/.test(path)
}

/** An engine does not make a folder that is left out and of which nothing was taken back. */
function dropEmpty(from: string, to: string, context: string, ignored: IgnoreList): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, copied] = [join(from, entry.name), join(to, entry.name)]
    if (!entry.isDirectory() || !takes(relative(context, source), source, ignored)) continue
    dropEmpty(source, copied, context, ignored)
    if (ignored(relative(context, source)) && readdirSync(copied).length === 0) rmdirSync(copied)
  }
}

/** `cp` applies the mask of this process; an engine does not. */
function keepModes(from: string, to: string): void {
  chmodSync(to, statSync(from).mode)
  if (!statSync(from).isDirectory()) return
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (!entry.isDirectory() || entry.name === 'node_modules') continue
    const copied = join(to, entry.name)
    if (statSync(copied, { throwIfNoEntry: false })?.isDirectory() === true) keepModes(join(from, entry.name), copied)
  }
}

function giveTo(path: string, owner: string): void {
  const [user = 0, group = user] = owner.split(':').map(Number)
  const below = statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true, withFileTypes: true }).map((entry) => join(entry.parentPath, entry.name))
    : []
  for (const file of [path, ...below]) chownSync(file, user, group)
}
