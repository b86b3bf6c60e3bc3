const WIDTH_PX = 960
const HEIGHT_PX = 720
const CELL_PX = 10
const ANGLE_STEP = 0.2
const RADIUS_STEP = 0.015 * CELL_PX

/**
 * The page of the SSR performance showdown (github.com/platformatic/ssr-performance-showdown): one tile a step, from
 * the centre outwards until the spiral touches the edge. About 2,400 tiles.
 */
export function Spiral() {
  const tiles = []
  let angle = 0
  for (let radius = 0; radius < Math.min(WIDTH_PX, HEIGHT_PX) / 2; radius += RADIUS_STEP) {
    const x = WIDTH_PX / 2 + Math.cos(angle) * radius
    const y = HEIGHT_PX / 2 + Math.sin(angle) * radius
    if (x >= 0 && x <= WIDTH_PX - CELL_PX && y >= 0 && y <= HEIGHT_PX - CELL_PX) tiles.push(tile(x, y))
    angle += ANGLE_STEP
  }
  return <div style={{ position: 'relative', width: WIDTH_PX, height: HEIGHT_PX, background: '#fff' }}>{tiles}</div>
}

function tile(x: number, y: number) {
  const left = `${x.toFixed(2)}px`
  const top = `${y.toFixed(2)}px`
  return (
    <div
      key={`${left} ${top}`}
      className="tile"
      style={{ position: 'absolute', left, top, width: CELL_PX, height: CELL_PX, background: '#333' }}
    />
  )
}
