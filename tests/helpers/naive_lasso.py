"""Plain numpy twins of the LASSO's compiled loops, and the LASSO itself written down from masks and margins."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import Lasso


def random_words(shape, seed=0):
    return np.random.default_rng(seed).integers(0, 2**64, shape, np.uint64)


def pack_words(bools):
    """(n,) bools as 64-bit words: row r is bit r mod 64 of word r div 64."""
    words = np.zeros(-(-len(bools) // 64), np.uint64)
    for r in np.flatnonzero(bools):
        words[r // 64] |= np.uint64(1) << np.uint64(r % 64)
    return words


def unpack_words(words):
    """(..., 64·k) bools: the inverse of `pack_words` along the last axis."""
    bits = (words[..., :, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    return bits.astype(bool).reshape(*words.shape[:-1], 64 * words.shape[-1])


def naive_count_common(block, words, which, first):
    columns = unpack_words(words[which, first : first + block.shape[1]])
    return (unpack_words(block)[:, None, :] & columns[None, :, :]).sum(axis=2)


def naive_transpose_bits(bits, n_columns):
    """(n_columns, words): the columns of rows packed by `np.packbits`."""
    bools = np.unpackbits(bits, axis=1, count=n_columns).astype(bool)
    return np.array([pack_words(column) for column in bools.T]).reshape(n_columns, -1)


def naive_add_rows(rows, slots, u, out):
    return out + u @ rows[slots].astype(np.float64)


def naive_duality_gap(z, y, w, lam):
    """P(w) − D, from the data, without any Gram matrix; y need not be centred, z need not hold used columns only."""
    n = len(y)
    y = y - y.mean()
    r = y - z @ w
    steepest = np.abs(z.T @ r).max(initial=0.0) / n
    r2, yr = r @ r / n, y @ r / n
    bound = lam / steepest if steepest > 0 else np.inf
    s = np.clip(yr / r2 if r2 > 0 else 0.0, -bound, bound)
    return 0.5 * r2 + lam * np.abs(w).sum() - (s * yr - 0.5 * s**2 * r2)


def naive_descend(gram, c, w, lam, y2, tolerance, most_sweeps):
    """(w, sweeps): soft thresholding of one coordinate after the other, g computed anew each time.

    It ends when the gap is small, or the longest step of a sweep is a 10⁻⁵ of the longest ever.
    """
    w, gram, longest = w.copy(), gram.astype(np.float64), 0.0
    for sweep in range(most_sweeps):
        g = c - gram @ w
        r2, yr = y2 - (c + g) @ w, y2 - c @ w
        s = min(lam / np.abs(g).max(), yr / r2)
        if 0.5 * r2 + lam * np.abs(w).sum() - s * yr + 0.5 * s**2 * r2 <= tolerance:
            return w, sweep
        before = w.copy()
        for j in range(w.size):
            z = c[j] - gram[j] @ w + w[j] * gram[j, j]
            w[j] = np.sign(z) * max(0.0, abs(z) - lam)
        longest = max(longest, np.abs(w - before).max())
        if np.abs(w - before).max() <= 1e-5 * longest:
            return w, sweep + 1
    return w, most_sweeps


def naive_add_columns(words, features, first, weights, out):
    columns = unpack_words(words[features, first : first + out.size // 64])
    return out + weights @ columns


def standardised(masks):
    """Columns of mean 0 and variance 1; constant ones are 0."""
    masks = np.asarray(masks, np.float64)
    deviation = masks.std(axis=0)
    return (masks - masks.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0)


def naive_gram(masks):
    """ZᵀZ/n from whole numbers, so that it is right to the last bits; 0 for constant columns."""
    counts = masks.T.astype(np.float64) @ masks.astype(np.float64)
    n, sums = len(masks), np.diag(counts)
    deviation = np.sqrt(sums * (n - sums))
    scale = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)
    return (n * counts - np.outer(sums, sums)) * np.outer(scale, scale)


def lambda_max(masks, y):
    return np.abs(standardised(masks).T @ (y - y.mean())).max() / len(y)


def objective(masks, y, w, lam):
    """P(w), w of the standardised columns."""
    r = y - y.mean() - standardised(masks) @ w
    return 0.5 * r @ r / len(y) + lam * np.abs(w).sum()


def relative_gap(masks, y, w, lam):
    """The duality gap as a share of P(0)."""
    return naive_duality_gap(standardised(masks), y, w, lam) / (0.5 * np.var(y))


def scikit_learn(masks, y, lam, tol=1e-11):
    """The weights of the standardised columns, by scikit-learn."""
    return Lasso(alpha=lam, tol=tol, max_iter=1_000_000).fit(standardised(masks), y).coef_


def naive_choice(masks, y, split, ratios, patience, first=0):
    """(λ, validation errors as far as they were looked at): the loop that `choose` does, with scikit-learn.

    It begins at λ number `first`.
    """
    train, held_out = masks[:split], masks[split:]
    deviation = np.where(train.std(axis=0) > 0, train.std(axis=0), 1.0)
    best, errors = 0, []
    lambdas = lambda_max(train, y[:split]) * ratios[first:]
    for k, lam in enumerate(lambdas):
        w = scikit_learn(train, y[:split], lam)
        predicted = (held_out - train.mean(axis=0)) / deviation @ w + y[:split].mean()
        errors.append(((predicted - y[split:]) ** 2).mean())
        best = k if errors[k] < errors[best] else best
        if k - best == patience:
            break
    return lambdas[best], np.array(errors)
