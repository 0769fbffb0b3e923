// SPDX-License-Identifier: MIT
pragma solidity ^0.8.30;

interface Movable {
    function transfer(address to, uint256 value) external returns (bool);
    function transferFrom(address from, address to, uint256 value) external returns (bool);
}

/// One token in, another out, in one transaction, at whatever price is asked.
contract Swap {
    function swap(address tokenIn, uint256 amountIn, address tokenOut, uint256 amountOut) external {
        Movable(tokenIn).transferFrom(msg.sender, address(this), amountIn);
        Movable(tokenOut).transfer(msg.sender, amountOut);
    }
}
