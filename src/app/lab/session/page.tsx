import type { PageProps } from 'millrace'
import { Experiment } from '../experiment.tsx'
import { Readout } from '../readout.tsx'
import { SeeAlso } from '../see-also.tsx'
import { signIn, signOut } from './actions.server.ts'
import { RoleButton } from './role-button.tsx'
import { ROLES } from './roles.ts'

type Props = PageProps<'/lab/session', typeof import('./loader.server.ts')>

export const metadata = { title: 'Session' }

/** Signs in and out; the session is a cookie that nobody but the server can read. */
export default function SessionPage({ data }: Props) {
  return (
    <Experiment
      title="Session"
      pattern="/lab/session"
      lede="Your session is in an encrypted cookie; the server stores nothing. An action sets it, and a message for the next page. Reload: the message is gone."
    >
      <p role="status" data-testid="flash">
        {data.flash ?? ''}
      </p>
      <Readout label="signed in as" testId="role" value={data.role ?? 'nobody'} />
      <div className="button-row">
        <form action={signIn} className="button-row">
          {ROLES.map((role) => (
            <RoleButton key={role} role={role} />
          ))}
        </form>
        {data.role === undefined ? null : (
          <form action={signOut}>
            <button type="submit" data-testid="sign-out">
              Sign out
            </button>
          </form>
        )}
      </div>
      {/* Loaded ahead it would be refused for most. */}
      <div data-prefetch="none">
        <SeeAlso label="Then go to" links={[{ href: '/lab/private', label: 'the private page' }]} />
      </div>
    </Experiment>
  )
}
