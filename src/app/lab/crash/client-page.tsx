import { useState } from 'react'
import { Experiment } from '../experiment.tsx'

export const metadata = { title: 'Failures in the browser' }

/** Three ways to fail that only a browser has. */
export default function ClientFailurePage() {
  const [broken, setBroken] = useState(false)
  const [last, setLast] = useState('')
  if (broken) throw new Error('The lab component failed in the browser on purpose')

  function throwInHandler() {
    setLast('An event handler has thrown. The page stays as it is.')
    throw new Error('The lab event handler failed on purpose')
  }

  function rejectUnhandled() {
    setLast('A promise was rejected with nobody listening. The page stays as it is.')
    void Promise.reject(new Error('The lab promise was rejected on purpose'))
  }

  return (
    <Experiment
      title="Failures in the browser"
      pattern="/lab/crash/client"
      lede="If a render fails, the error page replaces the page. If an event handler or a promise fails, the page stays, and the error is in the console."
    >
      <noscript>
        <p>This page fails in the browser, so it needs JavaScript. Without it nothing here can break.</p>
      </noscript>
      <div className="button-row">
        <button type="button" data-testid="throw-handler" onClick={throwInHandler}>
          Throw in a handler
        </button>
        <button type="button" data-testid="throw-render" onClick={() => setBroken(true)}>
          Throw in a render
        </button>
        <button type="button" data-testid="reject" onClick={rejectUnhandled}>
          Reject a promise
        </button>
      </div>
      <p role="status">{last}</p>
    </Experiment>
  )
}
