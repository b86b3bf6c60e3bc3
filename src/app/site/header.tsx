import { Link, type LinkProps } from 'millrace'
import { LogoMark } from './logo-mark.tsx'
import { ThemeToggle } from './theme-toggle.tsx'

/** The areas that the header links to. */
export type Area = 'home' | 'docs' | 'lab'

const AREAS: readonly {
  readonly area: Area
  readonly href: LinkProps<'/docs' | '/lab'>['href']
  readonly label: string
}[] = [
  { area: 'docs', href: '/docs', label: 'Handbook' },
  { area: 'lab', href: '/lab', label: 'Lab' },
]

/** The site's header. `current` marks the area we are in; without it we are in none. */
export function SiteHeader({ current }: { readonly current?: Area }) {
  return (
    <header className="site-header">
      <Link href="/" className="site-name" aria-current={current === 'home' ? 'page' : undefined}>
        <LogoMark size={26} />
        Millrace
      </Link>
      <div className="site-tools">
        <nav aria-label="Main">
          <ul>
            {AREAS.map(({ area, href, label }) => (
              <li key={area}>
                <Link href={href} aria-current={current === area ? 'true' : undefined}>
                  {label}
                </Link>
              </li>
            ))}
          </ul>
        </nav>
        <ThemeToggle />
      </div>
    </header>
  )
}
