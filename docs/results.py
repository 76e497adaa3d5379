"""Draw docs/results.png from what app/demo.sh leaves in out/. Needs python3-matplotlib and python3-h5py."""
import os

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
grid = (40, 30)  # points of data/membrane.h5

with h5py.File(os.path.join(root, "out/membrane_pairs.h5")) as f:
    values, vectors = f["eigenvalues"][:], f["eigenvectors"][:]
with h5py.File(os.path.join(root, "out/blobs_clusters.h5")) as f:
    labels, centers = f["labels"][:], f["cluster_centers"][:]
with h5py.File(os.path.join(root, "data/blobs.h5")) as f:
    points = f["features"][:]

figure = plt.figure(figsize=(11, 4.2), dpi=90)
left = figure.add_gridspec(2, 4, left=0.02, right=0.6, wspace=0.08, hspace=0.22, top=0.9, bottom=0.04)
for i in range(8):
    axes = figure.add_subplot(left[i // 4, i % 4])
    largest = abs(vectors[:, i]).max()
    axes.imshow(vectors[:, i].reshape(grid).T, cmap="RdBu", interpolation="bicubic", vmin=-largest, vmax=largest)
    axes.set_title(f"{values[i]:.6f}", fontsize=9)
    axes.set_axis_off()
axes = figure.add_axes([0.66, 0.08, 0.33, 0.82])
axes.scatter(points[:, 0], points[:, 1], c=labels, cmap="tab20", s=5, linewidths=0)
axes.scatter(centers[:, 0], centers[:, 1], marker="+", c="black", s=60)
axes.set_title("1500 points, 12 clusters", fontsize=9)
axes.tick_params(labelsize=7)
figure.savefig(os.path.join(root, "docs/results.png"))
