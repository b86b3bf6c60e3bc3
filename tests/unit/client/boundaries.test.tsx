import { isValidElement, type Component, type ComponentType, type ReactElement, type ReactNode } from 'react'
import { describe, expect, test } from 'vitest'
import { RouteLoadError } from '../../../src/client/core/router-errors.ts'
import { SegmentBoundary, ServerFailure } from '../../../src/client/react/boundaries.tsx'
import { RedirectSignal } from '../../../src/shared/control-flow.ts'

const NEVER = () => new Promise<never>(() => undefined)

interface Caught extends Component {
  state: object
}

/** What a boundary renders for something that was thrown inside it, mounted under a router. */
function caught(boundary: 'segment' | 'root', thrown: unknown, router: object | null = null): ReactNode {
  const props = { children: null, visit: 0 }
  const instance: Caught = new SegmentBoundary(boundary === 'root' ? props : { ...props, definition: {} })
  instance.state = SegmentBoundary.getDerivedStateFromError(thrown)
  const shown = instance.render()
  if (!isValidElement<object>(shown) || typeof shown.type === 'string') return shown
  const Mounted = shown.type as ComponentType & (new (props: object) => Component)
  const mounted = new Mounted(shown.props)
  mounted.context = router
  mounted.componentDidMount?.()
  return shown
}

describe.for(['segment', 'root'] as const)(
  'a redirect that a component throws in the browser, at the %s',
  (boundary) => {
    const leave = (to: string, external = false): string[] => {
      const left: string[] = []
      const router = {
        redirect: (target: string, leaves: boolean) => void left.push(leaves ? `out ${target}` : target),
      }
      caught(boundary, new RedirectSignal(to, 307, external), router)
      return left
    }

    test('leads on', () => {
      expect(leave('/a?b#c')).toEqual(['/a?b#c'])
      expect(leave('https://example.test/a', true)).toEqual(['out https://example.test/a'])
    })
  },
)

test('a segment passes on what it has no fallback for', () => {
  expect(() => caught('segment', new Error('for somebody above'))).toThrow('for somebody above')
})

test('the error page is told what has happened, and the status of an answer that was refused', () => {
  const told = (thrown: unknown): object => {
    const instance: Caught = new SegmentBoundary({ definition: { error: NEVER }, children: null, visit: 0 })
    instance.state = SegmentBoundary.getDerivedStateFromError(thrown)
    const shown = instance.render() as ReactElement<{ children: [ReactElement<object>] }>
    return shown.props.children[0].props
  }
  const retry = expect.any(Function)
  const refused = new RouteLoadError('route data', '/form', { status: 413 })
  expect(told(refused)).toEqual({ origin: 'client', reason: 'server', status: 413, retry })
  const unreached = new RouteLoadError('route data', '/form', { passing: true, reason: 'offline' })
  for (const other of [unreached, new RouteLoadError('script', '/a.js')]) {
    expect(told(other)).toEqual({ origin: 'client', reason: 'offline', retry })
  }
  for (const own of [Object.assign(new Error('own'), { status: 413, reason: 'server' }), null, 'text']) {
    expect(told(own)).toEqual({ origin: 'client', reason: 'crash', retry })
  }
  const unavailable = Object.assign(new ServerFailure('abc'), { status: 503 })
  expect(told(unavailable)).toEqual({ origin: 'server', reason: 'server', status: 503, digest: 'abc', retry })
  // A hole of a document or of an answer that broke off.
  expect(told(new ServerFailure())).toEqual({ origin: 'server', reason: 'offline', retry })
})

test('what was caught is forgotten with the next navigation, and not before', () => {
  const failed = { ...SegmentBoundary.getDerivedStateFromError(new Error('broken')), visit: 3 }
  const props = { definition: {}, children: null, onRetry: undefined }
  expect(SegmentBoundary.getDerivedStateFromProps({ ...props, visit: 3 }, failed)).toBeNull()
  expect(SegmentBoundary.getDerivedStateFromProps({ ...props, visit: 4 }, failed)).toEqual({
    visit: 4,
    thrown: undefined,
  })
})
