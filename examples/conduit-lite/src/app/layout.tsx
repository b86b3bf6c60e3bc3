import { Link, type LayoutProps, type Metadata } from 'millrace'
import { signOut } from './accounts/actions.server.ts'
import { Avatar } from './articles/preview.tsx'
import './styles.css'

type Props = LayoutProps<'/', typeof import('./layout.server.ts')>

export const metadata: Metadata = { title: { template: '%s · Conduit', default: 'Conduit' } }

export default function SiteLayout({ data: { account }, children }: Props) {
  return (
    <>
      <header className="site">
        <nav aria-label="Main">
          <Link href="/">Conduit</Link>
          <Link href="/write" current="below">
            Write
          </Link>
          {account === null ? (
            <Link href="/account">Sign in</Link>
          ) : (
            <>
              <Link href="/account" current="exact" aria-label="Account">
                <Avatar name={account.name} file={account.avatar} />
              </Link>
              <form id="sign-out" action={signOut}>
                <button className="quiet">Sign out</button>
              </form>
            </>
          )}
        </nav>
      </header>
      <main>{children}</main>
    </>
  )
}
