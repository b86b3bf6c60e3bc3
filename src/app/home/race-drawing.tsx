import styles from './race-drawing.module.css'

const LINES = 11
const MIDDLE = (LINES - 1) / 2
const WIDE_GAP = 21
const NARROW_GAP = 4.4
const CENTRE_Y = 120

/**
 * Streamlines of a river drawn together into a race and let go again. Decoration only. Every coordinate is a constant
 * with one decimal, so that server and browser draw the same.
 */
export function RaceDrawing() {
  return (
    <svg
      className={styles['drawing']}
      viewBox="0 0 1200 240"
      preserveAspectRatio="xMidYMid slice"
      aria-hidden="true"
      focusable="false"
    >
      <path className={styles['bank']} d="M0 0H1200V8C800 8 800 88 600 88S400 8 0 8Z" />
      <path className={styles['bank']} d="M0 240H1200V232C800 232 800 152 600 152S400 232 0 232Z" />
      {Array.from({ length: LINES }, (_, index) => (
        <path key={index} className={styles['line']} d={streamline(index - MIDDLE)} />
      ))}
    </svg>
  )
}

function streamline(offset: number): string {
  const wide = (CENTRE_Y + offset * WIDE_GAP).toFixed(1)
  const narrow = (CENTRE_Y + offset * NARROW_GAP).toFixed(1)
  return `M0 ${wide}C400 ${wide} 400 ${narrow} 600 ${narrow}S800 ${wide} 1200 ${wide}`
}
