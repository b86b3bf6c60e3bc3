import { element, placeButton, type OpenPlace } from './dev-elements.ts'
import type { ListedFailure } from './failure-list.ts'
import { failureTitle, requestFacts } from './failure-text.ts'
import { foldComponents, foldFrames, frameText, type FrameGroup } from './fold-frames.ts'

/** Shows one failure. */
export function failureArticle(
  document: Document,
  { failure, count, sides }: ListedFailure,
  open: OpenPlace,
): HTMLElement {
  const { message, frames, components = [], excerpt, request } = failure
  const repeated = [
    ...(count > 1 ? [`${count} times`] : []),
    ...(sides.length > 1 ? ['on the server and in the browser'] : []),
  ]
  const title = element(document, 'h1', failureTitle(failure))
  title.id = 'title'
  if (repeated.length > 0) title.append(' ', element(document, 'small', `(${repeated.join(', ')})`))
  const [summary = '', ...rest] = message.trim().split(/\n\s*\n/)
  const made = element(document, 'article', title, element(document, 'p', summary))
  // React marks lines of its tree: + of the browser, - of the server, > where markup is nested wrongly.
  if (rest.length > 0) made.append(block(document, 'Details of the message', rest.join('\n\n'), differenceLine))
  if (excerpt !== undefined) made.append(block(document, 'Source', excerpt, markedLine))
  if (frames.length > 0) made.append(stack(document, foldFrames(frames), open))
  if (components.length > 0) {
    made.append(element(document, 'h2', 'Components'), stack(document, foldComponents(components), open))
  }
  if (request !== undefined) {
    const facts = requestFacts(request).flatMap(([name, value]) => [
      element(document, 'dt', name),
      element(document, 'dd', value),
    ])
    made.append(element(document, 'h2', 'Request'), element(document, 'dl', ...facts))
  }
  return made
}

type LineName = 'b' | 'del' | 'ins' | 'span'

const markedLine = (line: string): LineName => (line.startsWith('>') ? 'b' : 'span')

function differenceLine(line: string): LineName {
  if (line.startsWith('+')) return 'ins'
  if (line.startsWith('>')) return 'b'
  return line.startsWith('-') ? 'del' : 'span'
}

/** Preformatted lines, which scroll by themselves. */
export function block(
  document: Document,
  label: string,
  text: string,
  nameOf: (line: string) => LineName = () => 'span',
): HTMLElement {
  const made = element(document, 'pre', ...text.split('\n').map((line) => element(document, nameOf(line), `${line}\n`)))
  made.tabIndex = 0
  made.role = 'group'
  made.ariaLabel = label
  return made
}

function stack(document: Document, groups: readonly FrameGroup[], open: OpenPlace): HTMLElement {
  const items = groups.map((group) => {
    if (group.kind === 'own') {
      const { frame } = group
      const name = frame.name === '' ? [] : [`${frame.name}  `]
      return element(document, 'li', ...name, placeButton(document, frame, open))
    }
    const folded = group.frames.map((frame) => element(document, 'li', frameText(frame)))
    const summary = element(document, 'summary', group.title)
    return element(document, 'li', element(document, 'details', summary, element(document, 'ol', ...folded)))
  })
  return element(document, 'ol', ...items)
}
