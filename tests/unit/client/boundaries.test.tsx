import { isValidElement, type Component, type ComponentType, type ReactNode } from 'react'
import { describe, expect, test, vi } from 'vitest'
import { RootBoundary, SegmentBoundary } from '../../../src/client/react/boundaries.tsx'
import { RedirectSignal } from '../../../src/shared/control-flow.ts'

interface Caught extends Component {
  state: object
}

/** What a boundary renders for something that was thrown inside it, mounted. */
function caught(boundary: 'segment' | 'root', thrown: unknown): ReactNode {
  const instance: Caught =
    boundary === 'root' ? new RootBoundary({ children: null }) : new SegmentBoundary({ definition: {}, children: null })
  instance.state = (boundary === 'root' ? RootBoundary : SegmentBoundary).getDerivedStateFromError(thrown)
  const shown = instance.render()
  if (!isValidElement<object>(shown) || typeof shown.type === 'string') return shown
  const Mounted = shown.type as ComponentType & (new (props: object) => Component)
  new Mounted(shown.props).componentDidMount?.()
  return shown
}

describe.for(['segment', 'root'] as const)(
  'a redirect that a component throws in the browser, at the %s',
  (boundary) => {
    const leave = (to: string, external = false): string[] => {
      const left: string[] = []
      vi.stubGlobal('location', { replace: (target: string) => void left.push(target) })
      caught(boundary, new RedirectSignal(to, 307, external))
      return left
    }

    test('leads on', () => {
      expect(leave('/a?b#c')).toEqual(['/a?b#c'])
      expect(leave('https://example.test/a', true)).toEqual(['https://example.test/a'])
    })

    test.for([
      '//evil.test',
      '/\\evil.test',
      'https://evil.test',
      'javascript:alert(1)',
      '\tjavascript:alert(1)',
      'a',
      '',
    ])('never to %j', (to) => {
      expect(leave(to)).toEqual([])
    })

    test('never to a script, though another site is meant', () => {
      expect(leave('javascript:alert(1)', true)).toEqual([])
    })
  },
)

test('a segment passes on what it has no fallback for', () => {
  expect(() => caught('segment', new Error('for somebody above'))).toThrow('for somebody above')
})
