import { useEffect, useRef } from 'react'
import UPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

interface ChartProps {
  readonly days: readonly { readonly at: number; readonly opened: number; readonly solved: number }[]
  readonly names: readonly [day: string, opened: string, solved: string]
}

export default function Chart({ days, names: [day, opened, solved] }: ChartProps) {
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const { current } = box
    if (current === null) return
    const size = () => ({ width: current.clientWidth, height: 240 })
    const series = [{ label: day }, { label: opened, stroke: '#b45309' }, { label: solved, stroke: '#0f766e' }]
    const rows = [days.map(({ at }) => at / 1000), days.map((row) => row.opened), days.map((row) => row.solved)]
    const plot = new UPlot({ ...size(), series }, rows as [number[], number[], number[]], current)
    const observer = new ResizeObserver(() => plot.setSize(size()))
    observer.observe(current)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [days, day, opened, solved])
  return <div ref={box} className="h-72" />
}
