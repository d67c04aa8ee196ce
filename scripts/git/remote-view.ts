import { promises } from 'node:fs';
import { join, sep } from 'node:path';

/** A repository as isomorphic-git is to see it: its own objects, and beside them only what stands here. */
export interface RepositoryView {
  readonly fs: { readonly promises: ViewFiles };
  readonly gitDir: string;
  /** What it holds beside the objects, and all that was written, objects too: by path below `gitDir`. */
  readonly files: Map<string, Buffer>;
}

type ViewFiles = Readonly<
  Record<
    'readFile' | 'writeFile' | 'unlink' | 'readdir' | 'mkdir' | 'rmdir' | 'stat' | 'lstat' | 'readlink' | 'symlink',
    (path: string, ...rest: never[]) => Promise<unknown>
  >
>;

/**
 * isomorphic-git fetches by a configured remote only, moves refs before their objects are there, and leaves refs of its
 * own behind. So it gets configuration, refs and shallow boundaries from memory and writes there; what it brought is
 * looked at before any of it reaches the disk.
 */
export function repositoryView(commonDir: string, texts: Readonly<Record<string, string>>): RepositoryView {
  const files = new Map(Object.entries(texts).map(([path, text]) => [path, Buffer.from(text)]));
  const objects = join(commonDir, 'objects');
  const nameOf = (path: string) =>
    path
      .slice(commonDir.length + 1)
      .split(sep)
      .join('/');
  const isObject = (path: string) => path === objects || path.startsWith(objects + sep);
  const statusOf = async (path: string) => {
    const file = files.get(nameOf(path));
    if (file !== undefined) return fileStatus(file.length);
    return isObject(path) ? promises.stat(path) : absent(path);
  };
  return {
    gitDir: commonDir,
    files,
    fs: {
      promises: {
        readFile: async (path: string, options?: { encoding?: BufferEncoding } | BufferEncoding) => {
          const bytes = files.get(nameOf(path)) ?? (isObject(path) ? await promises.readFile(path) : absent(path));
          const encoding = typeof options === 'string' ? options : options?.encoding;
          return encoding === undefined ? bytes : bytes.toString(encoding);
        },
        writeFile: async (path: string, content: Uint8Array | string) => {
          files.set(nameOf(path), Buffer.from(content as Uint8Array));
        },
        unlink: async (path: string) => {
          if (!files.delete(nameOf(path))) absent(path);
        },
        readdir: async (path: string) => (isObject(path) ? promises.readdir(path) : absent(path)),
        mkdir: async () => undefined,
        rmdir: async () => undefined,
        stat: statusOf,
        lstat: statusOf,
        readlink: async (path: string) => absent(path),
        symlink: async (path: string) => absent(path),
      },
    },
  };
}

function absent(path: string): never {
  throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
}

function fileStatus(size: number) {
  return {
    size,
    isFile: () => true,
    isDirectory: () => false,
    isSymbolicLink: () => false,
  };
}
