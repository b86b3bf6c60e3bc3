import { spawn, type ChildProcess } from 'node:child_process'
import { chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { BuiltImage } from './engine.ts'
import type { MemoryGroup } from './memory-limit.ts'

/** Options for running an image. */
interface RunOptions {
  /** Added to the image's own environment. */
  readonly env?: Readonly<Record<string, string>>
  /** Replaces the image's command; the entry point stays. */
  readonly command?: readonly string[]
  /** Absolute path of a folder of this machine, mounted at the image's volume. */
  readonly volume: string
  /** Further folders of this machine by their mount points in the image; owned by its user. */
  readonly folders?: Readonly<Record<string, string>>
  /** Joined before the image's first process starts. */
  readonly memory?: MemoryGroup | undefined
}

/** A running image. */
export interface RunningImage {
  /** Resolves with the first line of its output that matches. @throws {Error} with all output, if it ends before. */
  line(pattern: RegExp): Promise<RegExpExecArray>
  /** Sends a signal to process 1 of the image. */
  signal(name: NodeJS.Signals): void
  /** Resolves with the exit code; `null` if a signal ended it. */
  readonly exited: Promise<number | null>
  /** stdout and stderr so far. */
  output(): string
}

/**
 * Runs an image as an engine would with `--read-only --cap-drop ALL --security-opt no-new-privileges --tmpfs /tmp`: in
 * its own process namespace, with the image's folder as its whole file system. It shares this machine's network.
 * Requires root, and permission to mount. `buildah run` in a changed root isolates less: its first process is not
 * process 1, and the root is writable.
 */
export function runImage(
  { root, config }: BuiltImage,
  { env, command, volume, folders = {}, memory }: RunOptions,
): RunningImage {
  const [uid = '0', gid = uid] = config.user.split(':')
  for (const path of ['proc', 'dev', 'sys', 'tmp', 'etc']) mkdirSync(join(root, path), { recursive: true })
  for (const path of ['etc/hosts', 'etc/resolv.conf']) writeFileSync(join(root, path), '') // mount points
  const mounts = { [config.volumes[0] ?? '/data']: volume, ...folders }
  for (const folder of Object.values(mounts)) chownSync(folder, Number(uid), Number(gid))
  const inside = [...config.entrypoint, ...(command ?? config.command)]
  const child = spawn(
    'unshare',
    ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', MOUNT_AND_ENTER, 'sh', ...inside],
    {
      env: {
        PATH: process.env['PATH'] ?? '',
        ROOT: root,
        GROUP: memory?.processes ?? '',
        MOUNTS: Object.entries(mounts).flat().join('\n'),
        USER_ID: uid,
        GROUP_ID: gid,
        IN_FOLDER: config.workdir,
        ENVIRONMENT: Object.entries({ ...config.env, ...env })
          .map(([name, value]) => `${name}=${value}`)
          .join('\n'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  )
  return watch(child)
}

/** The mounts are visible to this process and its children only, and end with them. */
const MOUNT_AND_ENTER = `
set -eu
[ -z "$GROUP" ] || echo 0 > "$GROUP"
mount --bind "$ROOT" "$ROOT"
mount -t tmpfs -o mode=1777,nosuid,nodev tmpfs "$ROOT/tmp"
mount -t proc proc "$ROOT/proc"
printf '%s\\n' "$MOUNTS" | while read -r to && read -r from; do mount --bind "$from" "$ROOT$to"; done
mount --rbind /dev "$ROOT/dev"
mount --rbind /sys "$ROOT/sys"
mount --bind /etc/hosts "$ROOT/etc/hosts"
mount --bind /etc/resolv.conf "$ROOT/etc/resolv.conf"
mount -o remount,bind,ro "$ROOT"
IFS='
'
set -f
exec env -i $ENVIRONMENT setpriv --no-new-privs \\
  unshare --root="$ROOT" --wd="$IN_FOLDER" --setgid "$GROUP_ID" --setuid "$USER_ID" -- "$@"
`

function watch(child: ChildProcess): RunningImage {
  let text = ''
  const listeners = new Set<(line: string) => void>()
  for (const stream of [child.stdout, child.stderr]) {
    if (stream === null) continue
    createInterface({ input: stream }).on('line', (line) => {
      text += `${line}\n`
      for (const listener of listeners) listener(line)
    })
  }
  const exited = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code))
  })
  return {
    line(pattern) {
      return new Promise((resolve, reject) => {
        const look = (line: string): void => {
          const found = pattern.exec(line)
          if (found !== null) resolve(found)
        }
        for (const line of text.split('\n')) look(line)
        listeners.add(look)
        exited.then((code) => reject(new Error(`It ended with code ${code} before that.\n${text}`)), reject)
      })
    },
    signal(name) {
      process.kill(firstChild(child.pid ?? 0), name)
    },
    exited,
    output: () => text,
  }
}

/** `unshare` forks; its child is process 1 in the new namespace. */
function firstChild(pid: number): number {
  const [first] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  const found = Number(first)
  if (!(found > 0)) throw new Error('the image has no process')
  return found
}
