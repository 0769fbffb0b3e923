import { readFileSync, writeFileSync } from 'node:fs';
import { createCanvas, type SKRSContext2D } from '@napi-rs/canvas';
import {
  Chart,
  type ChartDataset,
  Legend,
  LinearScale,
  LineController,
  LineElement,
  LogarithmicScale,
  type Plugin,
  PointElement,
  Title,
} from 'chart.js';
import type { Soak } from './index.ts';
import type { Sample } from './samples.ts';
import type { Spell } from './weather.ts';

const WIDTH = 1_200;
const HEAD = 92;
const PANEL = 300;
const FOOT = 34;
const FONT = '"DejaVu Sans", Arial, sans-serif';
const INK = '#24292f';
const GRID = '#e6e8eb';
const MINUTE = 60_000;
const MIB = 1_024 ** 2;

/** How each kind of trouble is drawn behind the lines. */
const TROUBLE: Record<Spell['kind'], { color: string; text: string }> = {
  outage: { color: '#f4b6b0', text: 'Discord is away' },
  forbidden: { color: '#fbe3a8', text: 'one channel is forbidden' },
  fault: { color: '#b8c0cc', text: 'errors, 429, time-outs, broken connections, slow answers' },
  lock: { color: '#8250df', text: 'the database is locked for 1 s' },
};

interface Line {
  name: string;
  color: string;
  value(sample: Sample): number | null;
  right?: boolean;
}

interface Panel {
  title: string;
  lines: Line[];
  scale: 'linear' | 'logarithmic';
  /** What stands beside the axes. */
  left: string;
  right?: string;
}

const [BLUE, GREEN, ORANGE, RED] = ['#0969da', '#1a7f37', '#bc4c00', '#cf222e'];

/** Changes since the sample before. */
function since(samples: readonly Sample[], value: (sample: Sample) => number): (sample: Sample) => number {
  const before = new Map(samples.map((sample, n) => [sample, samples[n - 1] ?? sample]));
  return (sample) => value(sample) - value(before.get(sample)!);
}

function panels(samples: readonly Sample[]): Panel[] {
  return [
    {
      title: 'Memory of the bot',
      left: 'MiB',
      scale: 'linear',
      lines: [
        { name: 'resident', color: BLUE, value: ({ rss }) => rss },
        { name: 'of that without files', color: GREEN, value: ({ anonymous }) => anonymous },
      ],
    },
    {
      title: 'Files',
      left: 'database, MiB',
      right: 'WAL, MiB',
      scale: 'linear',
      lines: [
        { name: 'database', color: BLUE, value: ({ database }) => database / MIB },
        { name: 'WAL (right)', color: ORANGE, value: ({ wal }) => wal / MIB, right: true },
      ],
    },
    {
      title: 'From the request to the message in Discord',
      left: 'milliseconds',
      scale: 'logarithmic',
      lines: [
        { name: 'p50', color: BLUE, value: ({ p50 }) => p50 },
        { name: 'p99', color: ORANGE, value: ({ p99 }) => p99 },
      ],
    },
    {
      title: 'What waits, and what was refused',
      left: 'waiting',
      right: '503s',
      scale: 'linear',
      lines: [
        { name: 'deliveries for the router', color: GREEN, value: ({ inbox }) => inbox },
        { name: 'lines for their message', color: BLUE, value: ({ alerts }) => alerts },
        { name: 'lines for the forbidden channel', color: ORANGE, value: ({ closed }) => closed },
        {
          name: 'requests refused with 503 (right)',
          color: RED,
          value: since(samples, ({ refused }) => refused),
          right: true,
        },
      ],
    },
  ];
}

const troubles = (spells: readonly Spell[]): Plugin => ({
  id: 'troubles',
  beforeDatasetsDraw({ ctx, scales, chartArea: { top, bottom } }) {
    const { x } = scales as { x: LinearScale };
    for (const { kind, from, until } of spells) {
      const [left, right] = [x.getPixelForValue(from / MINUTE), x.getPixelForValue(until / MINUTE)];
      ctx.fillStyle = TROUBLE[kind].color;
      ctx.fillRect(left, top, Math.max(1, right - left), bottom - top);
    }
  },
});

function datasetOf({ name, color, value, right }: Line, samples: readonly Sample[]): ChartDataset<'line'> {
  return {
    label: name,
    data: samples.map((sample) => ({ x: sample.at / MINUTE, y: value(sample) as number })),
    borderColor: color,
    backgroundColor: color,
    borderWidth: 1.8,
    pointRadius: 0,
    spanGaps: true,
    yAxisID: right ? 'right' : 'y',
  };
}

/** Axes of one width, so that the panels' times stand below each other. */
const widthOf = (width: number) => (scale: { width: number }) => {
  scale.width = width;
};

function drawPanel(panel: Panel, { samples, spells, until }: Soak, last: boolean) {
  const canvas = createCanvas(WIDTH, PANEL + (last ? FOOT : 0));
  const axis = (text: string) => ({ display: true, text, color: INK, font: { size: 15 } });
  const ticks = { color: INK, font: { size: 15 }, maxTicksLimit: 6 };
  const chart = new Chart(canvas as never, {
    type: 'line',
    data: { datasets: panel.lines.map((line) => datasetOf(line, samples)) },
    options: {
      animation: false,
      responsive: false,
      devicePixelRatio: 1,
      layout: { padding: { left: 14, right: panel.right ? 14 : 84 } },
      plugins: {
        title: { display: true, text: panel.title, align: 'start', color: INK, font: { size: 18, weight: 'bold' } },
        legend: { align: 'start', labels: { color: INK, font: { size: 15 }, boxWidth: 26, boxHeight: 2 } },
      },
      scales: {
        x: {
          type: 'linear',
          min: 0,
          max: until / MINUTE,
          ticks: { ...ticks, maxTicksLimit: 13, display: last },
          grid: { color: GRID },
          title: { ...axis('minutes since the start'), display: last },
        },
        y: {
          type: panel.scale,
          ...(panel.scale === 'linear' && { beginAtZero: true }),
          ticks,
          grid: { color: GRID },
          title: axis(panel.left),
          afterFit: widthOf(96),
        },
        ...(panel.right && {
          right: {
            type: 'linear' as const,
            position: 'right' as const,
            beginAtZero: true,
            suggestedMax: 5,
            ticks: { ...ticks, precision: 0 },
            grid: { display: false },
            title: axis(panel.right),
            afterFit: widthOf(70),
          },
        }),
      },
    },
    plugins: [troubles(spells)],
  });
  return { canvas, destroy: () => chart.destroy() };
}

function drawHead(context: SKRSContext2D, { until, perSecond }: Soak): void {
  context.fillStyle = INK;
  context.font = `bold 22px ${FONT}`;
  const minutes = Math.round(until / MINUTE);
  context.fillText(`Soak: ${minutes} minutes at ${perSecond} transfers a second, with faults`, 24, 38);
  context.font = `15px ${FONT}`;
  let x = 24;
  for (const { color, text } of Object.values(TROUBLE)) {
    context.fillStyle = color;
    context.fillRect(x, 60, 18, 16);
    context.fillStyle = INK;
    context.fillText(text, x + 26, 73);
    x += 26 + context.measureText(text).width + 30;
  }
}

/** Draws a soak's samples as a PNG: panels above each other, with what was broken behind the lines. */
export function drawSoak(soak: Soak): Buffer {
  Chart.register(Legend, LinearScale, LineController, LineElement, LogarithmicScale, PointElement, Title);
  Chart.defaults.font.family = FONT;
  const drawn = panels(soak.samples);
  const canvas = createCanvas(WIDTH, HEAD + drawn.length * PANEL + FOOT);
  const context = canvas.getContext('2d');
  context.fillStyle = '#ffffff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  drawHead(context, soak);
  for (const [n, panel] of drawn.entries()) {
    const part = drawPanel(panel, soak, n === drawn.length - 1);
    context.drawImage(part.canvas, 0, HEAD + n * PANEL);
    part.destroy();
  }
  return canvas.toBuffer('image/png');
}

// `node bench/soak/plot.ts` draws the last run anew.
if (import.meta.main) writeFileSync('bench/soak.png', drawSoak(JSON.parse(readFileSync('bench/soak.json', 'utf8'))));
