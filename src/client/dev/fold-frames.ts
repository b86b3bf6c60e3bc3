import type { DevFrame } from './dev-messages.ts'

/** Consecutive frames: one of the project's own code, or several of others, which are folded behind one line. */
export type FrameGroup =
  | { readonly kind: 'own'; readonly frame: DevFrame }
  | { readonly kind: 'folded'; readonly title: string; readonly frames: readonly DevFrame[] }

/** Groups the frames of a stack, in its order. */
export function foldFrames(frames: readonly DevFrame[]): readonly FrameGroup[] {
  const groups: FrameGroup[] = []
  let foreign: DevFrame[] = []
  const fold = (): void => {
    if (foreign.length > 0) groups.push({ kind: 'folded', title: titleOf(foreign), frames: foreign })
    foreign = []
  }
  for (const frame of frames) {
    if (!frame.own) {
      foreign.push(frame)
      continue
    }
    fold()
    groups.push({ kind: 'own', frame })
  }
  fold()
  return groups
}

/**
 * Groups the frames of a stack of components. Millrace puts a component around each segment, which would separate nearly all of
 * the project's own ones.
 */
export function foldComponents(frames: readonly DevFrame[]): readonly FrameGroup[] {
  return foldFrames(frames.filter(({ own, owner }) => own || owner !== 'Millrace'))
}

/** "12 frames of React and Node". */
function titleOf(frames: readonly DevFrame[]): string {
  const owners = [...new Set(frames.map(({ owner = 'other code' }) => owner))]
  const [last = ''] = owners.slice(-1)
  const names = owners.length === 1 ? last : `${owners.slice(0, -1).join(', ')} and ${last}`
  return `${frames.length} ${frames.length === 1 ? 'frame' : 'frames'} of ${names}`
}

/** `src/app/page.tsx:3:5`, as editors and terminals read it. */
export function positionOf({ file, line, column }: DevFrame): string {
  return `${file}:${line}:${column}`
}

/** A line of a stack. */
export function frameText(frame: DevFrame): string {
  return `${frame.name === '' ? '' : `${frame.name}  `}${positionOf(frame)}`
}
