import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { collectOutput } from './collect-output.ts'

/** An image's settings for running it. */
interface ImageConfig {
  readonly env: Readonly<Record<string, string>>
  /** Absolute path in the image. */
  readonly workdir: string
  /** `<uid>:<gid>`; empty for root. */
  readonly user: string
  /** Absolute paths of volumes in the image. */
  readonly volumes: readonly string[]
  /** `<number>/tcp`. */
  readonly ports: readonly string[]
  readonly stopSignal: string
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  /** Without its options; `CMD` or `CMD-SHELL` is the first element. */
  readonly healthCheck: readonly string[]
}

/** A built image: its folder and settings. */
export interface BuiltImage {
  /** Absolute path of its file system. */
  readonly root: string
  readonly config: ImageConfig
}

/** Options of a build. */
interface BuildRequest {
  /** Absolute path of the folder that is sent to the build. */
  readonly context: string
  /** Absolute path of the Dockerfile. */
  readonly dockerfile: string
  /** Name of the result. */
  readonly tag: string
  /** Values of `ARG`. */
  readonly args?: Readonly<Record<string, string>>
}

/** buildah with a private storage. */
export interface Engine {
  /** @throws {ProgramError} with the whole output of the build. */
  build(request: BuildRequest): Promise<BuiltImage>
  /**
   * Makes an image of one layer from a folder.
   * @param env environment of the image.
   */
  pack(folder: string, tag: string, env: Readonly<Record<string, string>>): Promise<void>
  /** Gives an image another name. */
  name(tag: string, another: string): Promise<void>
  /** Unmounts and deletes everything. */
  close(): Promise<void>
}

/** The parts of `buildah inspect`'s output that we read. */
interface Inspected {
  readonly Docker: {
    readonly config: {
      readonly User?: string
      readonly Env?: readonly string[]
      readonly Cmd?: readonly string[]
      readonly Entrypoint?: readonly string[]
      readonly WorkingDir?: string
      readonly StopSignal?: string
      readonly Volumes?: Readonly<Record<string, unknown>>
      readonly ExposedPorts?: Readonly<Record<string, unknown>>
      readonly Healthcheck?: { readonly Test?: readonly string[] }
    }
  }
}

/**
 * Steps run in a changed root with this machine's network, and layers are plain folders: that needs root, but neither a
 * daemon nor a kernel module.
 * @param work absolute path of an empty folder for its storage.
 */
export function createEngine(work: string): Engine {
  const folders = { root: join(work, 'storage'), runroot: join(work, 'run'), temporary: join(work, 'temporary') }
  for (const folder of Object.values(folders)) mkdirSync(folder, { recursive: true })
  const common = ['--root', folders.root, '--runroot', folders.runroot, '--storage-driver', 'vfs']
  const alone = ['--isolation', 'chroot', '--network', 'host']

  const buildah = (...args: readonly string[]): Promise<string> =>
    collectOutput('buildah', [...common, ...args], { cwd: work, env: { TMPDIR: folders.temporary } })

  return {
    async build({ context, dockerfile, tag, args = {} }) {
      const values = Object.entries(args).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`])
      // Docker's format: OCI's has no health check.
      await buildah(
        'bud',
        ...alone,
        '--pull-never',
        '--format',
        'docker',
        ...values,
        '-f',
        dockerfile,
        '-t',
        tag,
        context,
      )
      const config = readConfig(await buildah('inspect', '--type', 'image', tag))
      const container = await buildah('from', ...alone, '--pull-never', tag)
      return { root: await buildah('mount', container), config }
    },
    async pack(folder, tag, env) {
      const container = await buildah('from', ...alone, 'scratch')
      await buildah('copy', '--quiet', container, folder, '/')
      const values = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`])
      await buildah('config', ...values, container)
      await buildah('commit', '--quiet', '--rm', container, tag)
    },
    async name(tag, another) {
      await buildah('tag', tag, another)
    },
    async close() {
      await buildah('rm', '--all')
      await buildah('rmi', '--all', '--force')
    },
  }
}

function readConfig(text: string): ImageConfig {
  const { config } = (JSON.parse(text) as Inspected).Docker
  return {
    env: Object.fromEntries(
      (config.Env ?? []).map((line) => [line.split('=', 1)[0], line.slice(line.indexOf('=') + 1)]),
    ),
    workdir: config.WorkingDir ?? '/',
    user: config.User ?? '',
    volumes: Object.keys(config.Volumes ?? {}),
    ports: Object.keys(config.ExposedPorts ?? {}),
    stopSignal: config.StopSignal ?? '',
    entrypoint: config.Entrypoint ?? [],
    command: config.Cmd ?? [],
    healthCheck: config.Healthcheck?.Test ?? [],
  }
}
