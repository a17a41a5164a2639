/** The container file and the systemd unit, held against the linters of their fields where these are installed. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { projectRoot, readText } from './project-files.ts';
import { needs, programOf } from '../support/needs.ts';

const run = promisify(execFile);
const unit = 'scripts/systemd/conversion-job-service.service';

/** Output of a linter. */
async function lint(program: string, ...argv: string[]): Promise<string> {
  try {
    const { stdout, stderr } = await run(program, argv, { cwd: projectRoot });
    return stdout + stderr;
  } catch (error) {
    const { code, stdout = '', stderr = '' } = error as { code?: unknown; stdout?: string; stderr?: string };
    return `${stdout}${stderr}exit ${String(code)}`;
  }
}

describe('the container file', () => {
  it('passes hadolint', needs('hadolint'), async () => {
    const complaints = await lint(programOf('hadolint')!, '--no-color', 'Containerfile');
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
  it('is one, and opens little', needs('systemd-analyze'), async () => {
    const complaints = await lint('systemd-analyze', 'verify', unit);
    expect(complaints).toBe('');
    const exposure = await lint('systemd-analyze', 'security', '--offline=true', '--threshold=25', unit);
    expect(exposure).not.toMatch(/exit \d/);
  });
});
