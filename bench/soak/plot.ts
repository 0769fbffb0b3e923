import { readFileSync, writeFileSync } from 'node:fs';
import { type Canvas, createCanvas } from '@napi-rs/canvas';
import { Chart, type Plugin } from 'chart.js/auto';
import { MINUTE } from '../../src/domain/clock.ts';
import type { Sample, Soak } from './samples.ts';
import type { Trouble } from './troubles.ts';

/** Pixels; a phone shows slightly less than half of them, so letters are large. */
const WIDTH = 900;
const HEAD = 210;
const AXIS = 110;
const LETTERS = 22;
const FONT = '"DejaVu Sans", Arial, sans-serif';
/** Opaque, so that it looks the same on a dark page. */
const [PAPER, INK, GRID] = ['#ffffff', '#1f2328', '#dfe3e8'];
const [BLUE, GREEN, ORANGE, RED] = ['#0550ae', '#1a7f37', '#bc4c00', '#cf222e'];
const MIB = 1_024 ** 2;

/** How each kind of fault is drawn behind the lines. */
const TROUBLES: Record<Trouble['kind'], { color: string; text: string }> = {
  away: { color: '#f8c3bd', text: 'Discord is down' },
  forbidden: { color: '#fbe08d', text: 'a channel is forbidden' },
  fault: { color: '#c3cad4', text: 'errors, 429, missing, late or broken responses' },
  lock: { color: '#b083f0', text: 'the database is locked' },
};

interface Panel {
  title: string;
  height: number;
  lines: [name: string, color: string, value: (sample: Sample) => number][];
  scale?: 'linear' | 'logarithmic';
}

function panelsOf(samples: readonly Sample[]): Panel[] {
  const before = new Map(samples.map((sample, n) => [sample, samples[n - 1] ?? sample]));
  return [
    {
      title: 'Memory, MiB',
      height: 340,
      lines: [
        ['resident', BLUE, ({ rss }) => rss],
        ['of that anonymous', GREEN, ({ anonymous }) => anonymous],
      ],
    },
    { title: 'Database, MiB', height: 230, lines: [['', BLUE, ({ database }) => database / MIB]] },
    { title: 'Write-ahead log (WAL), MiB', height: 200, lines: [['', BLUE, ({ wal }) => wal / MIB]] },
    {
      title: 'From the request to the message, ms',
      height: 380,
      lines: [
        ['half of the alerts within', BLUE, ({ p50 }) => p50],
        ['99 % within', ORANGE, ({ p99 }) => p99],
      ],
      scale: 'logarithmic',
    },
    {
      title: 'Deliveries and alerts that wait',
      height: 360,
      lines: [
        ['for the router', GREEN, ({ inbox }) => inbox],
        ['for a message', BLUE, ({ alerts }) => alerts],
        ['for the forbidden channel', ORANGE, ({ closed }) => closed],
      ],
    },
    {
      title: 'Requests refused with 503, in 5 s',
      height: 270,
      lines: [['', RED, (sample) => sample.refused - before.get(sample)!.refused]],
    },
  ];
}

const troublesOf = ({ troubles }: Soak): Plugin => ({
  id: 'troubles',
  beforeDatasetsDraw({ ctx, scales, chartArea: { top, bottom } }) {
    for (const { kind, from, until } of troubles) {
      const [left, right] = [from, until].map((at) => scales.x!.getPixelForValue(at / MINUTE)) as [number, number];
      ctx.fillStyle = TROUBLES[kind].color;
      ctx.fillRect(left, top, Math.max(2, right - left), bottom - top);
    }
  },
});

function drawPanel({ title, height, lines, scale = 'linear' }: Panel, soak: Soak, isLast: boolean): Canvas {
  const canvas = createCanvas(WIDTH, height);
  new Chart(canvas as never, {
    type: 'line',
    data: {
      datasets: lines.map(([label, color, value]) => ({
        label,
        data: soak.samples.map((sample) => ({ x: sample.at / MINUTE, y: value(sample) })),
        borderColor: color,
        backgroundColor: color,
        borderWidth: 2.5,
        pointRadius: 0,
        spanGaps: true,
      })),
    },
    options: {
      animation: false,
      responsive: false,
      devicePixelRatio: 1,
      layout: { padding: { left: 14, right: 24, top: 6 } },
      plugins: {
        title: { display: true, text: title, align: 'start', font: { size: LETTERS + 2 } },
        legend: { display: lines.length > 1, align: 'start', labels: { boxWidth: 34, boxHeight: 2 } },
      },
      scales: {
        x: {
          type: 'linear',
          max: (soak.cycles * soak.cycleMs) / MINUTE,
          ticks: { maxRotation: 0, maxTicksLimit: 7, display: isLast },
          title: { display: isLast, text: 'minutes since the start' },
        },
        y: {
          type: scale,
          beginAtZero: scale === 'linear',
          ticks: { maxTicksLimit: 5 },
          // One width, so that the panels' times are aligned.
          afterFit(axis) {
            axis.width = AXIS;
          },
        },
      },
    },
    plugins: [troublesOf(soak)],
  });
  return canvas;
}

/** Draws a soak's samples as a PNG: the faults with a legend, and stacked panels. */
export function drawSoak(soak: Soak): Buffer {
  Object.assign(Chart.defaults, { color: INK, borderColor: GRID, font: { family: FONT, size: LETTERS } });
  const panels = panelsOf(soak.samples);
  const canvas = createCanvas(
    WIDTH,
    panels.reduce((sum, { height }) => sum + height, HEAD),
  );
  const context = canvas.getContext('2d');
  context.fillStyle = PAPER;
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = INK;
  context.font = `bold ${LETTERS + 6}px ${FONT}`;
  const minutes = Math.round((soak.cycles * soak.cycleMs) / MINUTE);
  context.fillText(`${minutes} minutes, ${soak.perSecond} transfers per second, with faults`, 24, 44);
  context.font = `${LETTERS}px ${FONT}`;
  for (const [n, { color, text }] of Object.values(TROUBLES).entries()) {
    context.fillStyle = color;
    context.fillRect(24, 68 + n * 34, 34, 24);
    context.fillStyle = INK;
    context.fillText(text, 70, 88 + n * 34);
  }
  let top = HEAD;
  for (const panel of panels) {
    context.drawImage(drawPanel(panel, soak, panel === panels.at(-1)), 0, top);
    top += panel.height;
  }
  return canvas.toBuffer('image/png');
}

// `node bench/soak/plot.ts` draws the last run again.
if (import.meta.main) writeFileSync('bench/soak.png', drawSoak(JSON.parse(readFileSync('bench/soak.json', 'utf8'))));
